/** The large values of a JSON text, wherever they are in it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LARGE_VALUE_CHARS, largeValues } from './cut-values.ts';

const leaf = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('"', '\\', '\\"', '[{', '}]').map((part) => part.repeat(LARGE_VALUE_CHARS)),
  fc.integer({ min: 0, max: 3 }).map((n) => 'long '.repeat(n * 900)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
}));

test('cuts whole values in order, and the same value alike wherever it is', () => {
  fc.assert(
    fc.property(value, (found) => {
      const cutsOf = (json: string): string[] => {
        const places = largeValues(json);
        const parts: string[] = [];
        let end = 0;
        for (let i = 0; i < places.length; i += 2) {
          const [from = 0, to = 0] = places.slice(i, i + 2);
          expect(from).toBeGreaterThanOrEqual(end);
          end = to;
          parts.push(json.slice(from, to));
          expect(() => JSON.parse(json.slice(from, to))).not.toThrow();
          expect(to - from).toBeGreaterThanOrEqual(LARGE_VALUE_CHARS);
        }
        return parts;
      };
      const here = cutsOf(JSON.stringify({ outputs: found }));
      expect(cutsOf(JSON.stringify({ nodeId: 'n"]', inputs: { input: found }, more: [1] }))).toEqual(here);
    }),
  );
});
