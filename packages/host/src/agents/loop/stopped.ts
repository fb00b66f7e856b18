/** Closes the open calls and the invocation of an agent node that times out or ends with its run. */
import { row } from '@cairn/protocol';
import { canceledDraft } from '../../engine/core/interrupts.ts';
import type { Draft } from '../../engine/core/state.ts';
import type { DrivenContext } from '../../engine/workflow/node-type.ts';
import { invocationCompletedRow, toolReturnedRow } from './rows.ts';
import { type Invocation, type LoopState, openCalls } from './state/loop-state.ts';

/** Depends only on the folded state, so that even a broken run can be ended. */
export function stoppedLoop(context: DrivenContext<LoopState>): readonly Draft[] {
  const { inner, node } = context;
  const { invocation } = inner;
  if (invocation === null) return [];
  const { id: invocationId, agentId } = invocation;
  return [
    ...abandonedTurn(node.id, invocation),
    ...abandonedCalls(context, invocation),
    invocationCompletedRow(node.id, { invocationId, agentId, outcome: 'failed' }),
  ];
}

function abandonedTurn(nodeId: string, { stage }: Invocation): Draft[] {
  if (stage.kind !== 'model' || stage.call.progress.kind !== 'open') return [];
  const { callId, attempt } = stage.call;
  return [row('cairn.model.abandoned', { nodeId, callId, attempt, reason: 'stopped' }, { nodeId })];
}

const unknownEnd = {
  error: {
    code: 'tool_canceled',
    message: 'The node ended before the call did; what it has done by then is not known.',
    retryable: false,
  },
  status: 'error',
} as const;

/** A client that executes a call is told that it is over. */
export function abandonedCalls({ node, state, now }: DrivenContext<LoopState>, invocation: Invocation): Draft[] {
  const { agentId } = invocation;
  return openCalls(invocation).flatMap(({ toolId, callId, attempt, calledSeq, progress }) => {
    const returned = toolReturnedRow(node.id, { agentId, toolId, callId, attempt, calledSeq }, unknownEnd);
    if (progress.kind !== 'asked' || progress.question.kind !== 'client') return [returned];
    const { interruptId } = progress;
    return [canceledDraft(state, { nodeId: node.id, interruptId, at: now }), returned];
  });
}
