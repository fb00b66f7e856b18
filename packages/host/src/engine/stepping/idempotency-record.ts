/** The outcome of a request as it is recorded with what the request changes, so that no crash comes between the two. */
import type { Settlement } from '../../log/ports/idempotency.ts';
import type { Once } from '../engine.ts';
import type { Clock } from '../ports.ts';

/** How the outcome is made of the answer; undefined for a request that may be carried out again. */
export function settledWith<Answer>(
  once: Once<Answer> | undefined,
  clock: Clock,
): ((answer: Answer) => Settlement) | undefined {
  if (once === undefined) return undefined;
  const { tenant, endpoint, key, requestDigest, owner } = once;
  return (answer) => ({
    owner,
    record: {
      tenant,
      endpoint,
      key,
      requestDigest,
      state: 'completed',
      owner: null,
      until: null,
      headers: '{}',
      at: clock.now(),
      ...once.answer(answer),
    },
  });
}
