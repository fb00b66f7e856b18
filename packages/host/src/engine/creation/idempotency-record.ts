/**
 * The idempotency record of a request. It is written in the append that executes the request, so a crash cannot
 * separate the two.
 */
import { type IdempotencyWrite, responseRecord } from '../../log/ports/idempotency.ts';
import type { IdempotentRequest } from '../engine.ts';
import type { Clock } from '../ports.ts';

export type RecordFor<Answer> = (answer: Answer) => IdempotencyWrite;

/** Returns a function that builds the record from the answer, or undefined for a request without a key. */
export function recordFor<Answer>(
  request: IdempotentRequest<Answer> | undefined,
  clock: Clock,
): RecordFor<Answer> | undefined {
  if (request === undefined) return undefined;
  return (answer) =>
    responseRecord(request, { state: 'completed', headers: '{}', at: clock.now(), ...request.response(answer) });
}
