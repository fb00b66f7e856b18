/** Passing maps and sets beside those of the language, while many entries come and go. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PassingMap, PassingSet } from './passing-map.ts';

/** Few keys, so that most deletions find an entry, and enough steps for several moves. */
const key = fc.nat({ max: 40 });
const step = fc.oneof(
  { weight: 200, arbitrary: fc.record({ what: fc.constant('put' as const), key }) },
  { weight: 200, arbitrary: fc.record({ what: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('clear' as const), key }) },
);
const steps = fc.array(step, { minLength: 300, maxLength: 600 });

test('a passing map has the entries of a map, in their order', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const model = new Map<number, number>();
      const map = new PassingMap<number, number>();
      taken.forEach(({ what, key }, at) => {
        if (what === 'put') {
          model.set(key, at);
          map.set(key, at);
        } else if (what === 'delete') expect(map.delete(key)).toBe(model.delete(key));
        else {
          model.clear();
          map.clear();
        }
        expect([map.size, map.get(key), map.has(key)]).toEqual([model.size, model.get(key), model.has(key)]);
      });
      expect([...map]).toEqual([...model]);
      expect([...map.values()]).toEqual([...model.values()]);
    }),
    { numRuns: 30 },
  );
});

test('a passing set has the values of a set, in their order', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const model = new Set<number>();
      const set = new PassingSet<number>();
      for (const { what, key } of taken) {
        if (what === 'put') {
          model.add(key);
          set.add(key);
        } else if (what === 'delete') expect(set.delete(key)).toBe(model.delete(key));
        else {
          model.clear();
          set.clear();
        }
        expect([set.size, set.has(key)]).toEqual([model.size, model.has(key)]);
      }
      expect([...set]).toEqual([...model]);
    }),
    { numRuns: 30 },
  );
});
