import { expect, test } from 'vitest';
import { CallSlots } from './call-slots.ts';

/** A slot is taken in the turn after the call that leaves it. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A call that runs until the test ends it. */
function call(slots: CallSlots, tenant: string, signal = new AbortController().signal) {
  const work = Promise.withResolvers<void>();
  const state = { hasBegun: false, hasGoneOn: false, end: work.resolve };
  const asking = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const done = slots.use(tenant, signal, async (rest) => {
    state.hasBegun = true;
    const resting = asking.promise.then(async () => {
      await rest(asked.promise);
      state.hasGoneOn = true;
    });
    resting.catch(() => undefined);
    return work.promise;
  });
  return Object.assign(state, { done, ask: asking.resolve, answer: asked.resolve });
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

test('a call that waits for a person leaves its slot, and goes on before those that wait for one', async () => {
  const slots = new CallSlots({ atOnce: 1, perTenant: 1 });
  const [first, second, third] = [call(slots, 'a'), call(slots, 'a'), call(slots, 'b')];
  first.ask();
  await turn();
  expect([second.hasBegun, third.hasBegun]).toEqual([true, false]);
  first.answer();
  await turn();
  expect(first.hasGoneOn).toBe(false);
  second.end();
  await turn();
  expect([first.hasGoneOn, third.hasBegun]).toEqual([true, false]);
  first.end();
  await turn();
  expect(third.hasBegun).toBe(true);
});

test('a call that ends while it waits for a person, or for its slot after that, holds nothing', async () => {
  const slots = new CallSlots({ atOnce: 1, perTenant: 1 });
  const [resting, returning] = [call(slots, 'a'), call(slots, 'a')];
  resting.ask();
  await turn();
  returning.ask();
  await turn();
  const busy = call(slots, 'a');
  returning.answer();
  await turn();
  // Its server ends it without being answered.
  for (const one of [returning, resting]) one.end();
  await turn();
  resting.answer();
  await turn();
  const [next, last] = [call(slots, 'a'), call(slots, 'a')];
  expect([next.hasBegun, last.hasBegun]).toEqual([false, false]);
  busy.end();
  await turn();
  expect([next.hasBegun, last.hasBegun]).toEqual([true, false]);
});

test('of many calls that wait for a person, some keep their slots', async () => {
  const slots = new CallSlots({ atOnce: 4, perTenant: 2 });
  const calls: ReturnType<typeof call>[] = [];
  for (let i = 0; i < 80; i++) {
    const one = call(slots, 'a');
    calls.push(one);
    one.ask();
    await turn();
  }
  expect(calls.filter(({ hasBegun }) => hasBegun)).toHaveLength(64 + 2);
  expect(call(slots, 'b').hasBegun).toBe(true);
  for (const one of calls) {
    one.end();
    await turn();
  }
  const [first, , third] = [call(slots, 'a'), call(slots, 'a'), call(slots, 'a')];
  first?.ask();
  await turn();
  expect(third?.hasBegun).toBe(true);
});
