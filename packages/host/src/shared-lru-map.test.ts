import { expect, test } from 'vitest';
import { SharedLruMap } from './shared-lru-map.ts';

const cache = (capacity: number) => new SharedLruMap<string, number>({ capacity, weigh: (value) => value });

test('an owner who fills the cache evicts its own entries', () => {
  const shared = cache(100);
  shared.set('small', 10, 'a');
  for (let i = 0; i < 1_000; i += 1) shared.set(`large-${i}`, 30, 'b');
  expect([shared.get('small'), shared.get('large-999'), shared.get('large-996')]).toEqual([10, 30, undefined]);
  expect(shared.weight).toBeLessThanOrEqual(100);
});

test('an owner who had the whole cache makes room for others', () => {
  const shared = cache(100);
  for (let i = 0; i < 10; i += 1) shared.set(`b-${i}`, 10, 'b');
  for (let i = 0; i < 4; i += 1) shared.set(`a-${i}`, 10, 'a');
  expect([shared.get('b-3'), shared.get('b-4'), shared.get('a-0')]).toEqual([undefined, 10, 10]);
});

test('the least recently used entry of an owner goes first', () => {
  const shared = cache(30);
  shared.set('1', 10, 'a');
  shared.set('2', 10, 'a');
  shared.set('3', 10, 'a');
  shared.get('1');
  shared.set('4', 10, 'a');
  expect(['1', '2', '3', '4'].map((key) => shared.get(key))).toEqual([10, undefined, 10, 10]);
});

test('the newest entry stays, even if it is larger than the cache', () => {
  const shared = cache(30);
  shared.set('1', 10, 'a');
  shared.set('2', 50, 'b');
  expect([shared.get('1'), shared.get('2'), shared.weight]).toEqual([undefined, 50, 50]);
});

test('an entry that is set again is weighed again and belongs to its new owner', () => {
  const shared = cache(30);
  shared.set('1', 10, 'a');
  shared.set('1', 20, 'b');
  expect([shared.get('1'), shared.weight, shared.delete('1'), shared.delete('1'), shared.weight]).toEqual([
    20,
    20,
    true,
    false,
    0,
  ]);
});
