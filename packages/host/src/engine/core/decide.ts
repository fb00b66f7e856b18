/** Decides the next rows of a run from its state. Returns none if the run waits for an external fact. */
import { invariant, row, type TaskStatus } from '@cairn/protocol';
import { routeQuestions } from '../coordination/route-questions.ts';
import type { NodeAction } from '../workflow/node-type.ts';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import { awaitsChildren, closedQuestions, type Stopping } from './control/cancel-run.ts';
import { mayGoOn, nextFact, pauseRun } from './control/pause.ts';
import { proposeCalls, verdictDecision } from './control/recover.ts';
import { askAgain, driveNodes, hasWritten, stoppedRows } from './driven.ts';
import { expiryDrafts } from './interrupts.ts';
import { activeContext, endNode, failNode, perform, startAgain, startNode } from './node-decisions.ts';
import { nodeById } from './node-of.ts';
import { withRemoteCause } from './remote-cause.ts';
import { runOutputs } from './run-outputs.ts';
import type { Decision, Draft, Pending, Queued, RunError, RunState, Timer } from './state.ts';
import { dueStatus } from './task-status.ts';

const nothing: Decision = { drafts: [], effects: [] };
const rows = (...drafts: Draft[]): Decision => ({ drafts, effects: [] });

/** Maximum nodes that one decision cancels or skips, so that a wide graph does not produce a huge decision. */
const AT_ONCE = 32;

/** Returns one decision. The caller folds it and calls again; an empty decision means the run waits for a fact. */
export function decide(state: RunState, workflow: Workflow): Decision {
  const decision = next(state, workflow);
  const drafts = state.remoteCause === undefined ? null : withRemoteCause(decision.drafts, state.remoteCause);
  return drafts === null ? decision : { ...decision, drafts };
}

function next(state: RunState, workflow: Workflow): Decision {
  if (state.ended || state.nextSeq === 0) return nothing;
  // A run that is held back from its start is not at work yet.
  if (state.view.taskStatus === null && state.pause === null) return rows(taskStatus('working', state.nextSeq - 1));
  if (state.cancel !== null) return cancel(state, workflow, state.cancel);
  if (state.failure !== null) return failRun(state, workflow, state.failure);
  if (state.ending !== null) return endRun(state, workflow, state.ending);
  const proposed = state.fork === undefined ? null : proposeCalls(state, workflow, state.fork);
  if (proposed !== null) return proposed;
  const fact = nextFact(state);
  if (fact !== undefined) return actOn(state, workflow, fact);
  const routed = state.routes !== undefined && mayGoOn(state) ? routeQuestions(state, workflow) : null;
  if (routed !== null) return routed;
  const driven = mayGoOn(state) ? driveNodes(state, workflow) : null;
  if (driven !== null) return driven;
  if (state.pause !== null) return pauseRun(state, workflow, state.pause);
  // A node that a loop reaches again while it is active starts, or is skipped, once it has ended.
  const isIdle = (entry: Queued) => state.active[entry.nodeId] === undefined;
  if (state.unreachable.some(isIdle)) return skip(state.unreachable.filter(isIdle));
  const ready = state.ready.find(isIdle);
  if (ready !== undefined) return startNode(state, workflow, ready);
  return state.activeCount > 0 ? settle(state) : complete(state, workflow);
}

/** The run waits for a fact. If a question was put beside other work that has ended since, its task waits from now on. */
function settle(state: RunState): Decision {
  const status = dueStatus(state);
  return status === null ? nothing : rows(taskStatus(status, state.nextSeq - 1));
}

const taskStatus = (status: TaskStatus, cause: number): Draft => row('cairn.task.status', { status }, { cause });

/** Cancels active nodes in batches, then writes the row that ends the run. */
function stopNodes(
  state: RunState,
  workflow: Workflow,
  { reason, ...stopping }: Stopping & { readonly reason: string },
  last?: () => Draft,
): Decision {
  const { seq: cause } = stopping;
  const drafts: Draft[] = [];
  for (const nodeId in state.active) {
    if (drafts.length >= AT_ONCE) return rows(...drafts);
    drafts.push(...closedQuestions(state, nodeId, stopping));
    drafts.push(...stoppedRows(state, workflow, nodeId, cause));
    drafts.push(row('node.cancelled', { nodeId, reason }, { nodeId, cause }));
  }
  return rows(...drafts, ...(last === undefined ? [] : [last()]));
}

function cancel(state: RunState, workflow: Workflow, asked: NonNullable<RunState['cancel']>): Decision {
  const { seq, reason, by, parentRunId } = asked;
  const stopping = { seq, by, reason: 'run-cancelled' };
  // The end of each child comes first, so that readers of the tree see them in this order.
  if (awaitsChildren(state)) return stopNodes(state, workflow, stopping);
  return stopNodes(state, workflow, stopping, () => {
    const payload = {
      ...(reason === null ? {} : { reason }),
      ...(by === null ? {} : { cancelledBy: by }),
      ...(parentRunId === null ? {} : { parentRunId }),
      durationMs: sinceStart(state),
    };
    return row('run.cancelled', payload, { cause: seq });
  });
}

function failRun(state: RunState, workflow: Workflow, failure: NonNullable<RunState['failure']>): Decision {
  const { seq, nodeId, error } = failure;
  return stopNodes(state, workflow, { seq, reason: 'run-failed' }, () => {
    const payload = { error, ...(nodeId === null ? {} : { failedNodeId: nodeId }), durationMs: sinceStart(state) };
    return row('run.failed', payload, { cause: seq });
  });
}

const sinceStart = (state: RunState): number =>
  state.now - (state.view.startedAt ?? state.now) - (state.fork?.gapMs ?? 0);

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
  return row('run.completed', payload, { cause });
}

/** Ends the run on request of a node and cancels the nodes that are still active. */
function endRun(state: RunState, workflow: Workflow, { seq }: NonNullable<RunState['ending']>): Decision {
  if (state.activeCount === 0) return rows(taskStatus('completed', seq), completedRow(state, workflow, seq));
  return stopNodes(state, workflow, { seq, reason: 'run-terminated' });
}

function skip(unreachable: readonly Queued[]): Decision {
  const skipped = ({ nodeId, cause }: Queued) =>
    row('node.skipped', { nodeId, reason: 'trigger-rule-not-met' }, { nodeId, cause });
  return rows(...unreachable.slice(0, AT_ONCE).map(skipped));
}

function actOn(state: RunState, workflow: Workflow, fact: Pending): Decision {
  if (fact.kind === 'timer') return actOnTimer(state, workflow, fact.timer, fact.seq);
  const node = nodeById(workflow, fact.nodeId);
  const context = activeContext(state, node, workflow);
  switch (fact.kind) {
    case 'step-returned':
      return endNode(context, fact.outcome, fact.seq);
    case 'node-error':
      return rows(...failNode(context, fact.error, fact.seq));
    case 'abandoned':
      return startAgain(state, { ...context, attempt: context.attempt + 1 }, fact.seq);
    case 'cut-short':
      return askAgain(context, fact.call, fact.seq);
    case 'recovered': {
      const call = state.calls.get(fact.callId);
      invariant(call !== undefined, 'call-of-verdict-open', { callId: fact.callId });
      return verdictDecision(context, call, fact.verdict, fact.seq);
    }
    case 'answered': {
      const { resume } = node.type;
      return perform(context, () => resume?.(context, fact.answer) ?? unexpected(node, 'an answer'), fact.seq);
    }
  }
}

function actOnTimer(state: RunState, workflow: Workflow, timer: Timer, seq: number): Decision {
  if (timer.purpose === 'run-timeout') return rows(durationBreached(state, seq));
  // Its fold has done all of it.
  if (timer.purpose === 'cancel-deadline') return nothing;
  const node = nodeById(workflow, timer.nodeId);
  const context = activeContext(state, node, workflow);
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
      return rows(...expired(state, node.id, timer, seq));
    case 'delay': {
      const { fired } = node.type;
      return perform(context, () => fired?.(context, timer) ?? unexpected(node, 'a timer'), seq);
    }
  }
}

function expired(state: RunState, nodeId: string, { timerId, interruptId }: Timer, cause: number): Draft[] {
  invariant(interruptId !== undefined, 'expiry-names-interrupt', { timerId });
  return expiryDrafts(state, nodeId, interruptId, cause);
}

/** Expires the open interrupt of a node that has timed out, so that it takes no answer. */
export function unanswered(state: RunState, nodeId: string, cause: number): Draft[] {
  const interruptId = state.view.nodeStates[nodeId]?.interruptId ?? null;
  if (interruptId === null || state.view.interrupts[interruptId] === undefined) return [];
  return expiryDrafts(state, nodeId, interruptId, cause);
}

function durationBreached(state: RunState, cause: number): Draft {
  const limit = state.limits.timeoutMs ?? 0;
  const observed = Math.max(sinceStart(state), limit + 1);
  return row('cap.breached', { kind: 'run-duration', limit, observed }, { cause });
}

/** The progress of a timed-out write is unknown, so the engine does not retry it automatically. */
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
