/** What follows from what is known: the next few rows of a run, or none until something happens outside. */

import type { JsonObject } from '@cairn/protocol';
import type { NodeAction } from '../workflow/node-type.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import { askAgain, driveNodes, hasWritten, stoppedRows } from './driven.ts';
import { expiryDrafts } from './interrupts.ts';
import { activeContext, endNode, failNode, perform, startAgain, startNode } from './node-decisions.ts';
import { mayGoOn, nextFact, pauseRun } from './pause.ts';
import { verdictDecision } from './recover.ts';
import { runOutputs } from './run-outputs.ts';
import type { Decision, Draft, OpenCall, Pending, RunError, RunState, Timer } from './state.ts';

const nothing: Decision = { drafts: [], effects: [] };
const rows = (...drafts: Draft[]): Decision => ({ drafts, effects: [] });

/** Nodes of one kind dealt with in one decision, so that a wide graph does not make a huge one. */
const AT_ONCE = 32;

/** The next decision only: fold it and ask again. Empty means that nothing happens until a fact arrives. */
export function decide(state: RunState, workflow: Workflow): Decision {
  if (state.ended || state.nextSeq === 0) return nothing;
  if (state.view.taskStatus === null) return rows(taskStatus('working', state.nextSeq - 1));
  if (state.cancel !== null) return cancel(state, workflow, state.cancel);
  if (state.failure !== null) return failRun(state, workflow, state.failure);
  if (state.ending !== null) return endRun(state, workflow, state.ending);
  const fact = nextFact(state);
  if (fact !== undefined) return actOn(state, workflow, fact);
  const driven = mayGoOn(state) ? driveNodes(state, workflow) : null;
  if (driven !== null) return driven;
  if (state.pause !== null) return pauseRun(state, workflow, state.pause);
  if (state.unreachable.length > 0) return skip(state);
  const next = state.ready.find((entry) => state.active[entry.nodeId] === undefined);
  if (next !== undefined) return startNode(state, workflow, next);
  return state.activeCount > 0 ? nothing : complete(state, workflow);
}

const taskStatus = (status: string, cause: number): Draft => ({
  type: 'cairn.task.status',
  cause,
  audience: 'client',
  payload: { status },
});

/** Stops what is still going on, some nodes at a time; then the row that ends the run. */
function stopNodes(
  state: RunState,
  workflow: Workflow,
  { cause, reason }: { readonly cause: number; readonly reason: string },
  last?: () => Draft,
): Decision {
  const drafts: Draft[] = [];
  for (const nodeId in state.active) {
    if (drafts.length >= AT_ONCE) return rows(...drafts);
    drafts.push(...stoppedRows(state, workflow, nodeId, cause));
    drafts.push({ type: 'node.cancelled', nodeId, cause, audience: 'client', payload: { nodeId, reason } });
  }
  return rows(...drafts, ...(last === undefined ? [] : [last()]));
}

function cancel(state: RunState, workflow: Workflow, asked: NonNullable<RunState['cancel']>): Decision {
  const { seq, reason, by, parentRunId } = asked;
  return stopNodes(state, workflow, { cause: seq, reason: 'run-cancelled' }, () => ({
    type: 'run.cancelled',
    cause: seq,
    audience: 'client',
    payload: {
      ...(reason === null ? {} : { reason }),
      ...(by === null ? {} : { cancelledBy: by }),
      ...(parentRunId === null ? {} : { parentRunId }),
      durationMs: sinceStart(state),
    },
  }));
}

function failRun(state: RunState, workflow: Workflow, failure: NonNullable<RunState['failure']>): Decision {
  const { seq, nodeId, error } = failure;
  return stopNodes(state, workflow, { cause: seq, reason: 'run-failed' }, () => ({
    type: 'run.failed',
    cause: seq,
    audience: 'client',
    payload: {
      error: error as unknown as JsonObject,
      ...(nodeId === null ? {} : { failedNodeId: nodeId }),
      durationMs: sinceStart(state),
    },
  }));
}

const sinceStart = (state: RunState): number => state.now - (state.view.startedAt ?? state.now);

function complete(state: RunState, workflow: Workflow): Decision {
  const cause = state.nextSeq - 1;
  return rows(taskStatus('completed', cause), completedRow(state, workflow, cause));
}

function completedRow(state: RunState, workflow: Workflow, cause: number): Draft {
  const reason = state.ending?.reason ?? null;
  const payload = {
    outputs: runOutputs(state, workflow),
    durationMs: sinceStart(state),
    ...(reason === null ? {} : { reason }),
  };
  return { type: 'run.completed', cause, audience: 'client', payload };
}

/** A node has said that the run is over: what is still going on is stopped. */
function endRun(state: RunState, workflow: Workflow, { seq }: NonNullable<RunState['ending']>): Decision {
  if (state.activeCount === 0) return rows(taskStatus('completed', seq), completedRow(state, workflow, seq));
  return stopNodes(state, workflow, { cause: seq, reason: 'run-terminated' });
}

function skip(state: RunState): Decision {
  return rows(
    ...state.unreachable.slice(0, AT_ONCE).map(
      ({ nodeId, cause }): Draft => ({
        type: 'node.skipped',
        nodeId,
        cause,
        audience: 'client',
        payload: { nodeId, reason: 'trigger-rule-not-met' },
      }),
    ),
  );
}

function actOn(state: RunState, workflow: Workflow, fact: Pending): Decision {
  if (fact.kind === 'timer') return actOnTimer(state, workflow, fact.timer, fact.seq);
  const node = workflow.nodes.get(fact.nodeId) as CompiledNode;
  const context = activeContext(state, node, workflow.agents);
  switch (fact.kind) {
    case 'step-returned':
      return endNode(context, fact.outcome, fact.seq);
    case 'node-error':
      return rows(...failNode(context, fact.error, fact.seq));
    case 'abandoned':
      return startAgain(state, { ...context, attempt: context.attempt + 1 }, fact.seq);
    case 'cut-short':
      return askAgain(context, fact.call, fact.seq);
    case 'recovered':
      return verdictDecision(context, state.calls[fact.callId] as OpenCall, fact.verdict, fact.seq);
    case 'answered': {
      const { resume } = node.type;
      return perform(context, () => resume?.(context, fact.answer) ?? unexpected(node, 'an answer'), fact.seq);
    }
  }
}

function actOnTimer(state: RunState, workflow: Workflow, timer: Timer, seq: number): Decision {
  if (timer.purpose === 'run-timeout') return rows(durationBreached(state, seq));
  const node = workflow.nodes.get(timer.nodeId as string) as CompiledNode;
  const context = activeContext(state, node, workflow.agents);
  switch (timer.purpose) {
    case 'retry':
      return startAgain(state, { ...context, attempt: context.attempt + 1 }, seq);
    case 'node-timeout':
      return rows(
        ...unanswered(state, node.id, seq),
        ...stoppedRows(state, workflow, node.id, seq),
        ...failNode(context, timedOut(context.state, node), seq),
      );
    case 'interrupt-expiry':
      return rows(...expiryDrafts(state, node.id, timer.timerId.slice('expiry:'.length), seq));
    case 'delay': {
      const { fired } = node.type;
      return perform(context, () => fired?.(context, timer) ?? unexpected(node, 'a timer'), seq);
    }
  }
}

/** A node whose time is up no longer waits for its answer: nobody may give one that counts for nothing. */
function unanswered(state: RunState, nodeId: string, cause: number): Draft[] {
  const interruptId = state.view.nodeStates[nodeId]?.interruptId ?? null;
  if (interruptId === null || state.view.interrupts[interruptId] === undefined) return [];
  return expiryDrafts(state, nodeId, interruptId, cause);
}

function durationBreached(state: RunState, cause: number): Draft {
  const limit = state.limits.timeoutMs as number;
  const observed = Math.max(sinceStart(state), limit + 1);
  return { type: 'cap.breached', cause, audience: 'client', payload: { kind: 'run-duration', limit, observed } };
}

/** Nobody knows how far a step that writes has come: it is not tried again by itself. */
function timedOut(state: Readonly<RunState>, node: CompiledNode): RunError {
  const hasCalled = node.type.safety === 'write' && (state.active[node.id]?.callAttempts ?? 0) > 0;
  const writes = hasCalled || hasWritten(state, node);
  return {
    code: 'node_timeout',
    message: `Node ${node.id} took longer than its limit of ${node.timeoutMs} ms.`,
    retryable: !writes,
  };
}

const unexpected = (node: CompiledNode, what: string): NodeAction => ({
  kind: 'fail',
  error: {
    code: 'internal_error',
    message: `Node ${node.id} of type ${node.type.typeId} got ${what} it never asked for.`,
  },
});
