/** How many calls of a peer run at once, of all tenants and of one. */
import { expect, test } from 'vitest';
import { PeerSlots } from './peer-slots.ts';

const settled = async <Value>(promise: Promise<Value>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);

const live = () => new AbortController();

test('one tenant leaves room for others, and gets the next slot when one of its own is free', async () => {
  const slots = new PeerSlots({ maxCallsAtOnce: 3, maxCallsPerTenant: 2 });
  const free = await slots.take('a', live().signal);
  await slots.take('a', live().signal);
  const third = slots.take('a', live().signal);
  expect(await settled(third)).toBe(false);
  await slots.take('b', live().signal);
  const waiting = slots.take('b', live().signal);
  expect(await settled(waiting)).toBe(false);
  free();
  free();
  await third;
  expect(await settled(waiting)).toBe(false);
});

test('a call that is given up leaves its slot, and its place among those that wait', async () => {
  const slots = new PeerSlots({ maxCallsAtOnce: 1, maxCallsPerTenant: 1 });
  const [first, second] = [live(), live()];
  await slots.take('a', first.signal);
  const waiting = slots.take('a', second.signal);
  second.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  first.abort();
  await slots.take('b', live().signal);
});
