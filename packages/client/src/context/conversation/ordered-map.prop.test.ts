import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OrderedMap } from './ordered-map.ts';

const keys = Array.from({ length: 151 }, (_, key) => String(key));

/** Few keys, so that they meet again; many changes, so that pieces fill and are packed. */
const change = fc.record({
  key: fc.constantFrom(...keys),
  value: fc.nat(3),
  drops: fc.boolean(),
  /** How many maps back the change begins. */
  from: fc.nat(3),
});

test('every map stays what it was, whatever comes of it and of maps before it', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 50, maxLength: 400, size: 'max' }), (changes) => {
      const made: { readonly map: OrderedMap<number>; readonly model: ReadonlyMap<string, number> }[] = [
        { map: OrderedMap.empty<number>(), model: new Map() },
      ];
      for (const { key, value, drops, from } of changes) {
        const base = made.at(-1 - Math.min(from, made.length - 1));
        if (base === undefined) continue;
        const model = new Map(base.model);
        if (drops) model.delete(key);
        else model.set(key, value);
        made.push({ map: drops ? base.map.without(key) : base.map.with(key, value), model });
      }
      for (const { map, model } of made) {
        expect([map.size, keys.filter((key) => map.get(key) !== model.get(key))]).toEqual([model.size, []]);
        expect([...map.keys()].join()).toBe([...model.keys()].join());
      }
    }),
    { numRuns: 40 },
  );
});

test('a change that changes nothing gives the same map', () => {
  const map = OrderedMap.empty<number>().with('a', 1);
  expect(map.with('a', 1)).toBe(map);
  expect(map.without('b')).toBe(map);
});
