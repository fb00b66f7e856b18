/** Folds the rows that start, end and retry nodes. */
import { type EventOf, type FoldEvent, invariant, payloadId } from '@cairn/protocol';
import type { CompiledNode, Workflow } from '../../workflow/workflow.ts';
import { consume, dequeue, leaveLoops, settle } from '../flow.ts';
import { nodeById } from '../node-of.ts';
import type { EdgeOutcome, RunState } from '../state.ts';
import { dropFacts, endAttempt } from './attempts.ts';
import { carriedOut, takeUp } from './orchestration.ts';
import { setTimer } from './timers.ts';

export function nodeStarted(state: RunState, workflow: Workflow, event: EventOf<'node.started'>): void {
  const node = nodeById(workflow, event.nodeId);
  const { attempt = 0, visit = 0, inputs = {}, timeoutMs } = event.payload;
  const nodeId = node.id;
  state.executions += 1;
  const known = state.active[nodeId];
  if (known === undefined) {
    enter(state, node, visit);
    if (node.type.dispatches === true) takeUp(state, nodeId);
  }
  state.active[nodeId] = {
    startedSeq: event.seq,
    startedAt: event.at,
    attempt,
    visit,
    inputs,
    callAttempts: known?.callAttempts ?? 0,
    callId: known?.callId ?? null,
    abandoned: known?.abandoned ?? 0,
    timers: [],
  };
  if (known !== undefined) dropFacts(state, nodeId);
  const { driver } = node.type;
  if (driver !== undefined) state.inner[nodeId] = driver.fresh(node);
  if (timeoutMs === undefined) return;
  setTimer(state, {
    timerId: payloadId(state.view.idToken, 'timer', `timeout:${nodeId}#${visit}.${attempt}`),
    purpose: 'node-timeout',
    nodeId,
    fireAt: event.at + timeoutMs,
    setSeq: event.seq,
  });
}

/** Starts a new visit: removes the node from the ready queue and consumes the edge outcomes that triggered it. */
function enter(state: RunState, node: CompiledNode, visit: number): void {
  const entry = dequeue(state, state.ready, node.id);
  invariant(entry !== undefined, 'node-started-when-ready', { nodeId: node.id });
  state.visits[node.id] = visit + 1;
  state.activeCount += 1;
  if (entry.edge === undefined) consume(state, node);
  if (node.isLoopHead) state.iterations[node.id] = entry.edge === undefined ? 0 : (state.iterations[node.id] ?? 0) + 1;
}

/** One outcome for all edges, or one per edge id. Null leaves every edge unsettled. */
type EdgeOutcomes = EdgeOutcome | null | Readonly<Record<string, EdgeOutcome>>;

export function nodeEnded(state: RunState, workflow: Workflow, event: FoldEvent, outcomes: EdgeOutcomes): void {
  const node = nodeById(workflow, event.nodeId);
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

export function nodeRetried(state: RunState, event: EventOf<'node.retried'>): void {
  const { nodeId, payload } = event;
  const active = nodeId === undefined ? undefined : state.active[nodeId];
  if (nodeId === undefined || active === undefined) return;
  endAttempt(state, nodeId, active);
  active.timers = [];
  setTimer(state, {
    timerId: payloadId(state.view.idToken, 'timer', `retry:${nodeId}#${active.visit}.${payload.attempt}`),
    purpose: 'retry',
    nodeId,
    fireAt: event.at + (payload.delayMs ?? 0),
    setSeq: event.seq,
  });
}
