import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spellings } from './encodings.ts';
import { coreOf, unredactable } from './markers.ts';
import { createRedactor } from './redactor.ts';

/** Few letters, so that secrets overlap, contain each other and begin alike; brackets, so that they meet markers. */
const letter = fc.constantFrom('a', 'b', '[', ']', '"', '\\', '/', '%', 'é', '😀', 'R');
const value = fc.array(letter, { minLength: 8, maxLength: 14 }).map((units) => units.join(''));

const known = fc
  .array(value, { minLength: 1, maxLength: 4 })
  .map((values) => values.map((secret, i) => ({ name: `s${i}`, value: secret })))
  .filter((secrets) => unredactable(secrets) === null);

/** Text in which secrets, spellings of them, their beginnings and their ends lie side by side. */
const scene = known.chain((secrets) => {
  const spelt = secrets.flatMap((secret) => [...spellings(secret.value.trim())]);
  const part = fc.oneof(
    fc.constantFrom(...spelt),
    fc.tuple(fc.constantFrom(...spelt), fc.nat(14)).map(([text, count]) => text.slice(0, count)),
    fc.tuple(fc.constantFrom(...spelt), fc.nat(14)).map(([text, count]) => text.slice(count)),
    fc.string({ unit: 'binary', maxLength: 6 }),
    letter,
  );
  return fc.record({
    secrets: fc.constant(secrets),
    text: fc.array(part, { maxLength: 12 }).map((all) => all.join('')),
  });
});

test('no spelling of a secret is left in what was redacted', () => {
  fc.assert(
    fc.property(scene, ({ secrets, text }) => {
      const clean = createRedactor(secrets).text(text);
      const left = secrets.flatMap((secret) =>
        [...spellings(secret.value.trim())].filter((one) => clean.includes(one)),
      );
      expect(left).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('however a text is split, the pieces give what the whole gives', () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 30 });
  fc.assert(
    fc.property(scene, cuts, ({ secrets, text }, at) => {
      const redactor = createRedactor(secrets);
      const stream = redactor.stream();
      let streamed = '';
      let from = 0;
      for (const cut of [...at].sort((a, b) => a - b)) {
        streamed += stream.push(text.slice(from, cut));
        from = Math.max(from, cut);
      }
      streamed += stream.push(text.slice(from)) + stream.end();
      expect(streamed).toBe(redactor.text(text));
    }),
    { numRuns: 300 },
  );
});

test('text that holds no secret stays as it is, to the last character', () => {
  fc.assert(
    fc.property(scene, ({ secrets, text }) => {
      const redactor = createRedactor(secrets);
      const sought = secrets.flatMap((secret) => [...spellings(secret.value.trim())].map(coreOf));
      const harmless = sought.reduce((rest, core) => rest.replaceAll(core.slice(0, 3), '·'), text);
      fc.pre(sought.every((core) => !harmless.includes(core)));
      expect(redactor.text(harmless)).toBe(harmless);
    }),
  );
});

test('a stream holds nothing back while no secret can have begun', () => {
  fc.assert(
    fc.property(scene, ({ secrets, text }) => {
      const redactor = createRedactor(secrets);
      const sought = secrets.flatMap((secret) => [...spellings(secret.value.trim())].map(coreOf));
      const longest = Math.max(...sought.map(({ length }) => length));
      const mayBegin = (read: string) => {
        const ends = Array.from({ length: Math.min(read.length, longest) }, (_, i) => read.slice(-i - 1));
        return ends.some((end) => sought.some((one) => one.startsWith(end)));
      };
      const stream = redactor.stream();
      let given = '';
      for (let i = 0; i < text.length; i++) {
        given += stream.push(text[i] as string);
        const read = text.slice(0, i + 1);
        if (!mayBegin(read)) expect(given).toBe(redactor.text(read));
      }
    }),
    { numRuns: 100 },
  );
});

test('a value stays a value of its shape, and no text in it holds a secret', () => {
  const withJson = scene.chain(({ secrets, text }) => {
    const leaf = fc.oneof(fc.constantFrom(text, ...secrets.map((secret) => secret.value)), fc.integer(), fc.boolean());
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('k', text, ...secrets.map((secret) => secret.value)), tie('tree'), {
          maxKeys: 3,
        }),
      ),
    }));
    return fc.record({ secrets: fc.constant(secrets), tree });
  });
  fc.assert(
    fc.property(withJson, ({ secrets, tree }) => {
      const redactor = createRedactor(secrets);
      const clean = redactor.value(tree);
      expect(redactor.secretIn(clean)).toBeNull();
      expect(shape(clean)).toEqual(shape(tree));
      if (redactor.secretIn(tree) === null) expect(clean).toBe(tree);
    }),
  );
});

/** A value with its texts left out, keys in order. */
const shape = (value: unknown): unknown => {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return value.map(shape);
  return typeof value === 'object' && value !== null ? Object.values(value).map(shape) : value;
};
