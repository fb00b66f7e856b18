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

/** The row of a call that no node waits for is on no node. */
export function stepReturned(call: OpenCall, result: StepResult, cause: number): Draft {
  const { nodeId, callId, attempt, routes } = call;
  const where = routes === undefined ? { nodeId, cause } : { cause };
  return row('cairn.step.returned', { nodeId, callId, attempt, ...result }, where);
}
