/** The rows of a step: the one that asks for it, and the one that records its result. */
import { row } from '@cairn/protocol';
import type { Draft, OpenCall, StepResult } from './state.ts';

/**
 * Asks for a step; the effect is performed once this row is durable. Its input is not repeated here: it follows from the
 * node's recorded inputs and the pinned definition, for every attempt alike.
 */
export function stepRequested(
  call: Omit<OpenCall, 'requestedSeq' | 'requestedAt' | 'recoveries' | 'asked'>,
  cause?: number,
): Draft {
  const { nodeId, callId, step, attempt, safety } = call;
  return row('cairn.step.requested', { nodeId, callId, step, attempt, safety }, { nodeId, cause });
}

export function stepReturned({ nodeId, callId, attempt }: OpenCall, result: StepResult, cause: number): Draft {
  return row('cairn.step.returned', { nodeId, callId, attempt, ...result }, { nodeId, cause });
}
