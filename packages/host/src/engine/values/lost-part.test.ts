import { expect, test } from 'vitest';
import { lostPart } from './lost-part.ts';

test('what JSON keeps is not lost: undefined members, dates, a toJSON of its own, objects without a prototype', () => {
  const kept = {
    none: undefined,
    at: new Date(0),
    own: { toJSON: () => 1 },
    bare: Object.create(null),
    list: [null, ''],
  };
  expect([kept, undefined, null, 0, [undefined]].map(lostPart)).toEqual([null, null, null, null, null]);
});

test('the first part that is lost is named with its place, however deep', () => {
  expect(lostPart({ a: [{}, { b: Number.POSITIVE_INFINITY }] })).toBe(
    'its part "a.1.b" is Infinity, which JSON cannot say',
  );
  expect(lostPart({ long: { ['x'.repeat(200)]: Symbol('s') } })).toMatch(/^its part "long\.x{75}" is a symbol/);
});

test('an object of a class without a name is told', () => {
  expect(lostPart(new (class {})())).toBe('it is a class, which is not plain JSON');
});
