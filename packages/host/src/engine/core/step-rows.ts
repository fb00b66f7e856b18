/** The rows of a step: its request and its result. */
import { row } from '@cairn/protocol';
import type { Draft, OpenCall, StepResult } from './state.ts';

/**
 * Requests a step. The effect is performed once this row is durable. The row omits the input, which every attempt
 * derives from the node's recorded inputs and the pinned definition.
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
