import { expect, test } from 'vitest';
import { CallSlots } from './call-slots.ts';

/** A slot is taken in the turn after the call that leaves it. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A call that runs until the test ends it. */
function call(slots: CallSlots, tenant: string, signal = new AbortController().signal) {
  const work = Promise.withResolvers<void>();
  const state = { hasBegun: false, end: work.resolve };
  const done = slots.use(tenant, signal, () => {
    state.hasBegun = true;
    return work.promise;
  });
  return Object.assign(state, { done });
}

test('lets so many calls run at once, and the next when one ends', async () => {
  const slots = new CallSlots({ atOnce: 2, perTenant: 2 });
  const calls = [call(slots, 'a'), call(slots, 'b'), call(slots, 'a'), call(slots, 'b')];
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false]);
  calls[0]?.end();
  await turn();
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false]);
});

test('keeps room for others when one tenant makes all the calls', async () => {
  const slots = new CallSlots({ atOnce: 3, perTenant: 2 });
  const many = Array.from({ length: 10 }, () => call(slots, 'many'));
  const other = call(slots, 'other');
  expect([...many, other].filter(({ hasBegun }) => hasBegun)).toEqual([many[0], many[1], other]);
  other.end();
  await turn();
  // The room of the others stays theirs.
  expect(many.filter(({ hasBegun }) => hasBegun)).toHaveLength(2);
  many[0]?.end();
  await turn();
  expect(many[2]?.hasBegun).toBe(true);
});

test('forgets a call that is given up while it waits', async () => {
  const slots = new CallSlots({ atOnce: 1, perTenant: 1 });
  const first = call(slots, 'a');
  const stop = new AbortController();
  const givenUp = call(slots, 'a', stop.signal);
  const last = call(slots, 'a');
  stop.abort(new Error('enough'));
  await expect(givenUp.done).rejects.toThrow('enough');
  first.end();
  await turn();
  expect([givenUp.hasBegun, last.hasBegun]).toEqual([false, true]);
});
