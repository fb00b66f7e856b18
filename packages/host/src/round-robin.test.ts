import { expect, test } from 'vitest';
import { RoundRobin } from './round-robin.ts';

function all(ring: RoundRobin<string>): readonly string[] {
  const items: string[] = [];
  for (let item = ring.next(); item !== null; item = ring.next()) items.push(item);
  return items;
}

test('the first keys take turns, then the second ones, and items of one path keep their order', () => {
  const ring = new RoundRobin<string>();
  for (const path of ['a1', 'a1', 'a1', 'a2', 'b1', 'c1', 'c2']) ring.add([...path], `${path}#${ring.size}`);
  expect(ring.size).toBe(7);
  expect(all(ring)).toEqual(['a1#0', 'b1#4', 'c1#5', 'a2#3', 'c2#6', 'a1#1', 'a1#2']);
  expect(ring.size).toBe(0);
});

test('one with a hundred second keys delays another first key by one item', () => {
  const ring = new RoundRobin<string>();
  for (let i = 0; i < 100; i += 1) ring.add(['many', i], `many${i}`);
  ring.add(['one', 0], 'one');
  expect(all(ring).indexOf('one')).toBe(1);
});

test('it knows whose items wait', () => {
  const ring = new RoundRobin<string>();
  ring.add(['a', 'x', 1], 'item');
  expect([ring.has('a'), ring.has('a', 'x'), ring.has('a', 'y'), ring.has('b', 'x')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  ring.next();
  expect(ring.has('a')).toBe(false);
});

test('a key whose items cost much sits out rounds until the others had as much', () => {
  const ring = new RoundRobin<string>();
  for (let i = 0; i < 5; i += 1) {
    ring.add(['dear', i], `dear${i}`);
    ring.add(['cheap', i], `cheap${i}`);
  }
  const order: (string | null)[] = [];
  for (let left = 8; left > 0; left -= 1) {
    const item = ring.next();
    order.push(item);
    ring.charge([item?.slice(0, -1), Number(item?.at(-1))], item?.startsWith('dear') ? 3 : 0.2);
  }
  expect(order).toEqual(['dear0', 'cheap0', 'cheap1', 'cheap2', 'cheap3', 'dear1', 'cheap4', 'dear2']);
});

test('a key that owes much is next when nobody else waits', () => {
  const ring = new RoundRobin<string>();
  for (let i = 0; i < 3; i += 1) ring.add(['dear', i], `dear${i}`);
  ring.next();
  ring.charge(['dear', 0], 1_000_000);
  expect(ring.next()).toBe('dear1');
});
