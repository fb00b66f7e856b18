/** Folds an event into the state of a run: the shared view first, then the graph's bookkeeping. */
import { type ErrorCode, type EventOf, type FoldEvent, foldRun, forkGapMs } from '@cairn/protocol';
import { endRoute, questionRouted, routeRequested, routeReturned } from '../coordination/route-state.ts';
import { giveBack, lend, newAccount } from '../family/account.ts';
import { memoryScopeOf } from '../family/memory-scope.ts';
import { startedByBranch } from '../fork/fork-state.ts';
import { addSealed } from '../sensitive/references.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { startDeadline } from './control/cancel-run.ts';
import { cutShort } from './evolve/attempts.ts';
import { childStarted, stepRequested, stepReturned } from './evolve/calls.ts';
import { drive } from './evolve/driven.ts';
import { noteReuse, runForked } from './evolve/forked.ts';
import { interruptRequested, interruptResolved } from './evolve/interrupts.ts';
import { nodeEnded, nodeRetried, nodeStarted } from './evolve/nodes.ts';
import { timerFired, timerSet } from './evolve/timers.ts';
import { enqueue } from './flow.ts';
import { nodeById } from './node-of.ts';
import { isAgentEvent, remoteEventOf } from './remote-cause.ts';
import { addedBytes, replacedBytes } from './run-size.ts';
import type { Pause, RunError, RunState } from './state.ts';

/** Updates the state in place. Deterministic; its cost does not grow with the run. Ignores unknown event types. */
export function evolve(state: RunState, workflow: Workflow, event: FoldEvent): void {
  const replaced = replacedBytes(state, event);
  const before = state.now;
  foldRun(state.view, event);
  state.bytes += addedBytes(state, event) - replaced;
  state.nextSeq = event.seq + 1;
  state.now = event.at;
  if (state.remoteCause !== undefined && isAgentEvent(event.type)) delete state.remoteCause;
  switch (event.type) {
    case 'run.started':
      runStarted(state, workflow, event);
      break;
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
      state.ended = true;
      state.timers = {};
      state.pending = [];
      break;
    case 'cairn.cancel.requested':
      if (state.cancel === null) startDeadline(state, event.seq, event.at);
      state.cancel ??= cancelOf(event);
      break;
    case 'cairn.pause.requested':
      state.pause = { seq: event.seq, ...pauseOf(event), pausedAt: null };
      break;
    case 'run.paused':
      paused(state, event);
      break;
    case 'run.resumed':
      state.pause = null;
      break;
    case 'cap.breached':
      if (!drive(state, workflow, event)) breached(state, event);
      break;
    case 'node.started':
      nodeStarted(state, workflow, event);
      break;
    case 'node.completed':
      nodeCompleted(state, workflow, event);
      break;
    case 'node.skipped':
      nodeEnded(state, workflow, event, event.payload.edges ?? 'not-taken');
      break;
    case 'node.failed':
      nodeEnded(state, workflow, event, 'failed');
      if (!nodeById(workflow, event.nodeId).handlesFailure) fail(state, event, event.payload.error);
      break;
    case 'node.cancelled':
      nodeEnded(state, workflow, event, null);
      break;
    case 'node.retried':
      nodeRetried(state, event);
      break;
    case 'cairn.run.forked':
      runForked(state, event, forkGapMs(event, before));
      break;
    default:
      foldFact(state, event);
      drive(state, workflow, event);
      break;
  }
}

/** Folds events about active nodes and budgets. Ignores other types. */
function foldFact(state: RunState, event: FoldEvent): void {
  if (state.fork !== undefined) noteReuse(state.fork, event);
  switch (event.type) {
    case 'workflow.loopback-limit':
      fail(state, event, loopLimit(event));
      break;
    case 'cairn.step.requested':
      if (!routeRequested(state, event)) stepRequested(state, event);
      break;
    case 'cairn.step.returned':
      if (!routeReturned(state, event)) stepReturned(state, event);
      break;
    case 'cairn.budget.granted':
      lend(state.account, event.payload.childRunId, event.payload.budget);
      break;
    case 'cairn.budget.returned':
      giveBack(state.account, event.payload.childRunId, event.payload.spent);
      break;
    case 'cairn.values.sealed':
      addSealed(state, event.payload.values);
      break;
    case 'node.dispatched':
      childStarted(state, event.payload.childRunId);
      break;
    case 'cairn.timer.set':
      timerSet(state, event);
      break;
    case 'cairn.timer.fired':
      timerFired(state, event);
      break;
    case 'interrupt.requested':
      interruptRequested(state, event);
      questionRouted(state, event);
      break;
    case 'cairn.input.forwarded':
      endRoute(state, event.payload.inputId);
      break;
    case 'interrupt.resolved':
      endRoute(state, event.payload.interruptId);
      interruptResolved(state, event);
      break;
  }
}

function runStarted(state: RunState, workflow: Workflow, event: EventOf<'run.started'>): void {
  const { limits, budget, depth, memoryScope, parentRunId, detached, agents, prompts } = event.payload;
  const { coordinators, branch } = event.payload;
  if (limits !== undefined) state.limits = limits;
  if (budget !== undefined) state.account = newAccount(budget);
  if (depth !== undefined) state.depth = depth;
  state.memoryScope = memoryScopeOf({ runId: state.runId, originRunId: state.payloadRunId }, memoryScope);
  if (parentRunId !== undefined && detached !== true) state.attachedTo = parentRunId;
  if (coordinators !== undefined) state.coordinators = coordinators;
  if (agents !== undefined) state.agents = agents;
  if (prompts !== undefined) state.prompts = prompts;
  if (branch !== undefined) state.fork = startedByBranch(branch);
  const remoteCause = remoteEventOf(event);
  if (remoteCause !== null) state.remoteCause = remoteCause;
  const { timeoutMs } = state.limits;
  if (timeoutMs !== null) {
    const fireAt = event.at + timeoutMs;
    state.timers.run = { timerId: 'run', purpose: 'run-timeout', fireAt, setSeq: event.seq };
  }
  for (const nodeId of workflow.entries) {
    enqueue(state, nodeById(workflow, nodeId), state.ready, { nodeId, cause: event.seq });
  }
}

function nodeCompleted(state: RunState, workflow: Workflow, event: EventOf<'node.completed'>): void {
  const { outputs = {}, edges = {}, endsRun } = event.payload;
  if (event.nodeId !== undefined) state.outputs[event.nodeId] = outputs;
  nodeEnded(state, workflow, event, edges);
  if (endsRun !== undefined) state.ending = { seq: event.seq, reason: endsRun.reason };
}

const cancelOf = ({ seq, payload }: EventOf<'cairn.cancel.requested'>): NonNullable<RunState['cancel']> => ({
  seq,
  reason: payload.reason ?? null,
  by: payload.requestedBy ?? null,
  parentRunId: payload.parentRunId ?? null,
});

const pauseOf = ({
  payload,
}: EventOf<'cairn.pause.requested' | 'run.paused'>): Pick<Pause, 'drainPolicy' | 'reason'> => ({
  drainPolicy: payload.drainPolicy === 'immediate' ? 'immediate' : 'drain-current-node',
  reason: payload.reason ?? null,
});

/** An immediate pause aborts the work in progress; it starts again when the run is resumed. */
function paused(state: RunState, event: EventOf<'run.paused'>): void {
  const pause = state.pause ?? { seq: event.seq, ...pauseOf(event) };
  state.pause = { ...pause, pausedAt: event.at };
  if (pause.drainPolicy === 'immediate') for (const nodeId in state.active) cutShort(state, nodeId, event.seq);
}

const breachCodes: Readonly<Record<string, ErrorCode>> = {
  'node-executions': 'recursion_limit_exceeded',
  'run-duration': 'run_timeout',
  'loop-iterations': 'loop_limit_exceeded',
};

function breached(state: RunState, event: EventOf<'cap.breached'>): void {
  const { kind, limit, observed } = event.payload;
  const code = breachCodes[kind];
  if (code === undefined) return;
  const used = kind === 'run-duration' ? `${observed} ms` : `${observed}`;
  const message = `The run passed its limit of ${limit} for ${kind}: ${used}.`;
  fail(state, event, { code, message, retryable: false });
}

const loopLimit = ({ payload }: EventOf<'workflow.loopback-limit'>): RunError => ({
  code: 'loop_limit_exceeded',
  message: `Node ${payload.nodeId} was entered again ${payload.iterations} times; the workflow allows ${payload.limit}.`,
  retryable: false,
});

/** Only the first failure becomes the failure of the run. */
function fail(state: RunState, event: FoldEvent, error: RunError): void {
  state.failure ??= { seq: event.seq, nodeId: event.nodeId ?? null, error };
}
