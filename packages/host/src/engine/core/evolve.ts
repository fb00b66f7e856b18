/** What happened, taken into the state of a run: the shared view first, then the graph's bookkeeping. */
import {
  type ErrorCode,
  type FoldEvent,
  foldRun,
  invariant,
  type Json,
  type JsonObject,
  newRunView,
  type RunId,
} from '@cairn/protocol';
import { type Budget, newAccount } from '../family/account.ts';
import { DEFAULT_RUNS_PER_TREE } from '../family/budget.ts';
import { memoryScopeOf } from '../family/memory-scope.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import { abandon, dropFacts, endAttempt, foldFact, setTimer } from './evolve-facts.ts';
import { consume, dequeue, enqueue, leaveLoops, settle } from './flow.ts';
import type { ActiveNode, EdgeOutcome, Pause, RunError, RunState } from './state.ts';

export const newRunState = (runId: RunId): RunState => ({
  runId,
  view: newRunView(runId),
  nextSeq: 0,
  now: 0,
  limits: { maxNodeExecutions: 0, timeoutMs: null },
  account: newAccount({ maxRuns: DEFAULT_RUNS_PER_TREE }),
  agents: {},
  keeper: null,
  depth: 0,
  memoryScope: { runId, isolated: false },
  children: {},
  childCount: 0,
  orchestration: null,
  ending: null,
  strays: [],
  inner: {},
  active: {},
  activeCount: 0,
  visits: {},
  edges: {},
  arrivals: {},
  late: {},
  exits: {},
  live: {},
  loopbacks: {},
  iterations: {},
  ready: [],
  unreachable: [],
  queued: {},
  outputs: {},
  calls: {},
  unsettled: 0,
  timers: {},
  pending: [],
  executions: 0,
  interruptCount: 0,
  cancel: null,
  pause: null,
  failure: null,
  ended: false,
});

/** Changes the state in place; deterministic, and its cost does not grow with the run. Unknown types change nothing here. */
export function evolve(state: RunState, workflow: Workflow, event: FoldEvent): void {
  foldRun(state.view, event);
  state.nextSeq = event.seq + 1;
  state.now = event.at;
  const payload: JsonObject = event.payload;
  switch (event.type) {
    case 'run.started':
      runStarted(state, workflow, event, payload);
      break;
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
      state.ended = true;
      state.timers = {};
      state.pending = [];
      break;
    case 'cairn.cancel.requested':
      state.cancel ??= cancelOf(event, payload);
      break;
    case 'cairn.pause.requested':
    case 'run.paused':
    case 'run.resumed':
      foldPause(state, event, payload);
      break;
    case 'cap.breached':
      if (!drive(state, workflow, event)) breached(state, event, payload);
      break;
    case 'workflow.loopback-limit':
      fail(state, event, loopLimit(payload));
      break;
    case 'node.started':
      nodeStarted(state, workflow, event, payload);
      break;
    case 'node.completed':
      state.outputs[event.nodeId as string] = (payload.outputs ?? {}) as JsonObject;
      nodeEnded(state, workflow, event, (payload.edges ?? {}) as Outcomes);
      if (payload.endsRun !== undefined) state.ending = endingOf(event, payload.endsRun as JsonObject);
      break;
    case 'runOrchestrator.decided':
      decided(state, event, payload);
      break;
    case 'node.skipped':
      nodeEnded(state, workflow, event, (payload.edges ?? 'not-taken') as Outcomes);
      break;
    case 'node.failed':
      nodeEnded(state, workflow, event, 'failed');
      if (!nodeOf(workflow, event).handlesFailure) fail(state, event, payload.error as unknown as RunError);
      break;
    case 'node.cancelled':
      nodeEnded(state, workflow, event, null);
      break;
    case 'node.retried':
      nodeRetried(state, event, payload);
      break;
    default:
      foldFact(state, event, payload);
      drive(state, workflow, event);
      break;
  }
}

/** Shows a row of a driven node to its driver; false for others. */
function drive(state: RunState, workflow: Workflow, event: FoldEvent): boolean {
  const inner = event.nodeId === undefined ? undefined : state.inner[event.nodeId];
  if (inner === undefined) return false;
  nodeOf(workflow, event).type.driver?.evolve(inner, event);
  return true;
}

function runStarted(state: RunState, workflow: Workflow, event: FoldEvent, payload: JsonObject): void {
  state.limits = payload.limits as unknown as RunState['limits'];
  if (payload.budget !== undefined) state.account = newAccount(payload.budget as unknown as Budget);
  if (typeof payload.depth === 'number') state.depth = payload.depth;
  state.memoryScope = memoryScopeOf(state.runId, payload);
  if (typeof payload.parentRunId === 'string' && payload.detached !== true) state.keeper = payload.parentRunId as RunId;
  if (payload.agents !== undefined) state.agents = payload.agents as unknown as RunState['agents'];
  const { timeoutMs } = state.limits;
  if (timeoutMs !== null) {
    const fireAt = event.at + timeoutMs;
    state.timers.run = { timerId: 'run', purpose: 'run-timeout', fireAt, setSeq: event.seq };
  }
  for (const nodeId of workflow.entries) {
    enqueue(state, workflow.nodes.get(nodeId) as CompiledNode, state.ready, { nodeId, cause: event.seq });
  }
}

const endingOf = (event: FoldEvent, { reason }: JsonObject): RunState['ending'] => ({
  seq: event.seq,
  reason: textOrNull(reason),
});

function decided(state: RunState, { seq }: FoldEvent, { agentId, decision }: JsonObject): void {
  const turns = (state.orchestration?.turns ?? 0) + 1;
  const pending = { seq, decision: decision as JsonObject };
  const carried = state.orchestration?.carried ?? {};
  state.orchestration = { agentId: agentId as string, turns, pending, carried };
}

function takeUp(state: RunState, nodeId: string): void {
  const { orchestration } = state;
  if (orchestration === null || orchestration.pending === null) return;
  const carried = { ...orchestration.carried, [nodeId]: orchestration.pending };
  state.orchestration = { ...orchestration, pending: null, carried };
}

function carriedOut(state: RunState, nodeId: string): void {
  if (state.orchestration === null) return;
  const { [nodeId]: _, ...carried } = state.orchestration.carried;
  state.orchestration = { ...state.orchestration, carried };
}

const cancelOf = (event: FoldEvent, payload: JsonObject): NonNullable<RunState['cancel']> => ({
  seq: event.seq,
  reason: textOrNull(payload.reason),
  by: textOrNull(payload.requestedBy),
  parentRunId: textOrNull(payload.parentRunId),
});

const pauseOf = (payload: JsonObject): Pick<Pause, 'drainPolicy' | 'reason'> => ({
  drainPolicy: payload.drainPolicy === 'immediate' ? 'immediate' : 'drain-current-node',
  reason: textOrNull(payload.reason),
});

function foldPause(state: RunState, event: FoldEvent, payload: JsonObject): void {
  if (event.type === 'run.paused') paused(state, event, payload);
  else if (event.type === 'run.resumed') state.pause = null;
  else state.pause = { seq: event.seq, ...pauseOf(payload), pausedAt: null };
}

/** Nodes that an immediate pause finds under way are cut short; they start again once the run is resumed. */
function paused(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const pause = state.pause ?? { seq: event.seq, ...pauseOf(payload) };
  state.pause = { ...pause, pausedAt: event.at };
  if (pause.drainPolicy === 'immediate') for (const nodeId in state.active) abandon(state, nodeId, event.seq);
}

const breachCodes: Readonly<Record<string, ErrorCode>> = {
  'node-executions': 'recursion_limit_exceeded',
  'run-duration': 'run_timeout',
  'loop-iterations': 'loop_limit_exceeded',
};

function breached(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const code = breachCodes[payload.kind as string];
  if (code === undefined) return;
  const used = payload.kind === 'run-duration' ? `${payload.observed} ms` : `${payload.observed}`;
  const message = `The run passed its limit of ${payload.limit} for ${payload.kind}: ${used}.`;
  fail(state, event, { code, message, retryable: false });
}

const loopLimit = (payload: JsonObject): RunError => ({
  code: 'loop_limit_exceeded',
  message: `Node ${payload.nodeId} was entered again ${payload.iterations} times; the workflow allows ${payload.limit}.`,
  retryable: false,
});

/** The first failure is the run's; later ones follow from it. */
function fail(state: RunState, event: FoldEvent, error: RunError): void {
  state.failure ??= { seq: event.seq, nodeId: event.nodeId ?? null, error };
}

function nodeStarted(state: RunState, workflow: Workflow, event: FoldEvent, payload: JsonObject): void {
  const nodeId = event.nodeId as string;
  const attempt = (payload.attempt ?? 0) as number;
  const visit = (payload.visit ?? 0) as number;
  state.executions += 1;
  const known = state.active[nodeId];
  const node = nodeOf(workflow, event);
  if (known === undefined) {
    enter(state, node, visit);
    if (node.type.dispatches === true) takeUp(state, nodeId);
  }
  const active: ActiveNode = {
    startedSeq: event.seq,
    startedAt: event.at,
    attempt,
    visit,
    inputs: (payload.inputs ?? {}) as JsonObject,
    callAttempts: known?.callAttempts ?? 0,
    callId: known?.callId ?? null,
    abandoned: known?.abandoned ?? 0,
    timers: [],
  };
  state.active[nodeId] = active;
  if (known !== undefined) dropFacts(state, nodeId);
  const { driver } = node.type;
  if (driver !== undefined) state.inner[nodeId] = driver.fresh();
  if (typeof payload.timeoutMs !== 'number') return;
  setTimer(state, {
    timerId: `timeout:${nodeId}#${visit}.${attempt}`,
    purpose: 'node-timeout',
    nodeId,
    fireAt: event.at + payload.timeoutMs,
    setSeq: event.seq,
  });
}

/** A fresh start: takes the node out of the line, and what brought it here with it. */
function enter(state: RunState, node: CompiledNode, visit: number): void {
  const entry = dequeue(state, state.ready, node.id);
  invariant(entry !== undefined, 'node-started-when-ready', { nodeId: node.id });
  state.visits[node.id] = visit + 1;
  state.activeCount += 1;
  if (entry.edge === undefined) consume(state, node);
  if (node.isLoopHead) state.iterations[node.id] = entry.edge === undefined ? 0 : (state.iterations[node.id] ?? 0) + 1;
}

type Outcomes = EdgeOutcome | null | Readonly<Record<string, EdgeOutcome>>;

function nodeEnded(state: RunState, workflow: Workflow, event: FoldEvent, outcomes: Outcomes): void {
  const node = nodeOf(workflow, event);
  const active = state.active[node.id];
  if (active !== undefined) {
    endAttempt(state, node.id, active);
    delete state.active[node.id];
    state.activeCount -= 1;
    if (node.type.dispatches === true) carriedOut(state, node.id);
  } else if (dequeue(state, state.unreachable, node.id) ?? dequeue(state, state.ready, node.id)) {
    consume(state, node);
  } else {
    return;
  }
  if (outcomes !== null) {
    for (const edge of node.out) {
      const outcome = typeof outcomes === 'string' ? outcomes : (outcomes[edge.id] ?? 'not-taken');
      settle(state, workflow, edge, outcome, event.seq);
    }
  }
  leaveLoops(state, workflow, node, event.seq);
}

function nodeRetried(state: RunState, event: FoldEvent, payload: JsonObject): void {
  const nodeId = event.nodeId as string;
  const active = state.active[nodeId];
  if (active === undefined) return;
  endAttempt(state, nodeId, active);
  active.timers = [];
  setTimer(state, {
    timerId: `retry:${nodeId}#${active.visit}.${payload.attempt}`,
    purpose: 'retry',
    nodeId,
    fireAt: event.at + ((payload.delayMs ?? 0) as number),
    setSeq: event.seq,
  });
}

const textOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

function nodeOf(workflow: Workflow, event: FoldEvent): CompiledNode {
  const node = workflow.nodes.get(event.nodeId as string);
  invariant(node !== undefined, 'node-of-event-known', { type: event.type, nodeId: event.nodeId ?? null });
  return node;
}
