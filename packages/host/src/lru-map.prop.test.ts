import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LruMap } from './lru-map.ts';

/** The same map as a plain list, least recently used first. */
class Model {
  readonly #capacity: number;
  entries: (readonly [number, number | null])[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  peek(key: number): number | null | undefined {
    return this.entries.find(([known]) => known === key)?.[1];
  }

  get(key: number): number | null | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: number, value: number | null): void {
    this.entries = [...this.entries.filter(([known]) => known !== key), [key, value] as const].slice(-this.#capacity);
  }

  delete(key: number): void {
    this.entries = this.entries.filter(([known]) => known !== key);
  }
}

const key = fc.integer({ min: 0, max: 5 });
const value = fc.option(fc.integer(), { nil: null });
/** Long scripts that seldom clear the map, so that entries leave it from every place. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ op: fc.constant('set' as const), key, value }) },
    {
      weight: 6,
      arbitrary: fc.record({ op: fc.constantFrom('get' as const, 'peek' as const, 'delete' as const), key }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('clear' as const), key }) },
  ),
  { maxLength: 60, size: 'max' },
);

test('holds the most recently used entries, in the order of their use', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (capacity, script) => {
      const map = new LruMap<number, number | null>(capacity);
      const model = new Model(capacity);
      for (const step of script) {
        if (step.op === 'set') {
          expect(map.set(step.key, step.value)).toBe(step.value);
          model.set(step.key, step.value);
        } else if (step.op === 'get') expect(map.get(step.key)).toBe(model.get(step.key));
        else if (step.op === 'peek') expect(map.peek(step.key)).toBe(model.peek(step.key));
        else if (step.op === 'clear') {
          map.clear();
          model.entries = [];
        } else {
          expect(map.delete(step.key)).toBe(model.peek(step.key) !== undefined);
          model.delete(step.key);
        }
        expect([...map]).toEqual(model.entries);
        expect(map.size).toBe(model.entries.length);
      }
    }),
  );
});
