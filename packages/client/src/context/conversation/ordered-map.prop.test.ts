import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OrderedMap } from './ordered-map.ts';

/** Few keys, so that they meet again; many changes, so that pieces fill and are packed. */
const change = fc.record({
  key: fc.nat(150).map(String),
  value: fc.nat(3),
  drops: fc.boolean(),
  /** How many maps back the change begins. */
  from: fc.nat(3),
});

test('every map stays what it was, whatever comes of it and of maps before it', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
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
      for (const { map, model } of made.slice(-20).concat(made.slice(0, 20))) {
        expect([...map]).toEqual([...model]);
        expect(map.size).toBe(model.size);
        for (let key = 0; key <= 150; key += 7) {
          expect(map.get(String(key))).toBe(model.get(String(key)));
          expect(map.has(String(key))).toBe(model.has(String(key)));
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('a change that changes nothing gives the same map', () => {
  const map = OrderedMap.empty<number>().with('a', 1);
  expect(map.with('a', 1)).toBe(map);
  expect(map.without('b')).toBe(map);
});
