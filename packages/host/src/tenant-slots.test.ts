import { expect, test } from 'vitest';
import { TenantSlots } from './tenant-slots.ts';

test('a tenant waits for its own slots only, in order, and a slot is given back once', async () => {
  const slots = new TenantSlots(1);
  const order: string[] = [];
  const take = (tenant: string, name: string) =>
    slots.take(tenant).then((release) => {
      order.push(name);
      return release;
    });
  const first = await take('a', 'a1');
  const waiting = [take('a', 'a2'), take('a', 'a3')];
  await take('b', 'b1');
  expect(order).toEqual(['a1', 'b1']);
  first();
  first();
  await Promise.resolve();
  const second = await waiting[0];
  expect(order).toEqual(['a1', 'b1', 'a2']);
  second?.();
  (await waiting[1])?.();
  await take('a', 'a4');
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
});
