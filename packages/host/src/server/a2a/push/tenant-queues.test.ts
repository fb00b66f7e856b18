import { expect, test } from 'vitest';
import { TenantQueues } from './tenant-queues.ts';

test('each tenant has so many things under way at once, in order, and waits for no other', async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const queues = new TenantQueues<string>(2, (item) => {
    begun.push(item);
    return new Promise((resolve) => ends.set(item, resolve));
  });
  for (const item of ['a1', 'a2', 'a3', 'a4']) queues.add('a', item);
  queues.add('b', 'b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  ends.get('a2')?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  const closed = queues.close();
  for (const end of ends.values()) end();
  await closed;
  expect(begun).not.toContain('a4');
});
