import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Keys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';
import { createPageCursors } from './page-cursors.ts';

const keys: Keys = [randomBytes(32)];
const cursors = createPageCursors(keys);

test('a cursor opens for the tenant it was made for', () => {
  expect(cursors.placeOf('a', cursors.shown('a', '12') ?? '')).toBe('12');
  expect([cursors.shown('a', null), cursors.placeOf('a', undefined)]).toEqual([null, undefined]);
});

test.each([
  ['of another tenant', cursors.shown('b', '12') ?? ''],
  ['sealed for the tenant with the position of another', sealerOf(keys, 'a').seal('["b","12"]')],
  ['of an older form', sealerOf(keys, 'a').seal('12')],
  ['of no known form', sealerOf(keys, 'a').seal('12.4 x')],
  ['that is made up', 'AAAA'],
])('a cursor %s is refused', (_, cursor) => {
  expect(() => cursors.placeOf('a', cursor)).toThrow(expect.objectContaining({ code: 'validation_error' }));
});
