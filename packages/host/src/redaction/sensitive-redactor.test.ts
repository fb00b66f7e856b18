import { expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';
import { SensitiveRedactor } from './sensitive-redactor.ts';

const KEY = 'k-0123456789';
const ref = '[REDACTED:key#aaaaaaaaaaaa]';
const other = '[REDACTED:other#bbbbbbbbbbbb]';

const redactor = (value: unknown, host = createRedactor([{ name: 'h', value: 'host-secret-1' }])) =>
  new SensitiveRedactor([{ reference: ref, value }], [ref, other], host);

test('a value becomes its reference, in texts, keys and numbers, and other encodings become a mask', () => {
  const given = { text: `Bearer ${KEY}`, [KEY]: [KEY], coded: Buffer.from(`x${KEY}`).toString('base64') };
  expect(redactor(KEY).value(given)).toEqual({
    text: `Bearer ${ref}`,
    [ref]: [ref],
    coded: expect.stringMatching(/\[REDACTED\]/),
  });
  expect(redactor(90_417).value({ pin: 90_417, text: '90417', other: 90_418 })).toEqual({
    pin: ref,
    text: ref,
    other: 90_418,
  });
});

test('the texts and numbers inside a value become masks', () => {
  expect(redactor({ user: 'ann', login: [KEY, 123_456] }).value([KEY, `a ${KEY}`, 123_456, 'ann'])).toEqual([
    '[REDACTED]',
    'a [REDACTED]',
    '[REDACTED]',
    'ann',
  ]);
});

test('a reference that comes from outside becomes a mask, before a value becomes a reference', () => {
  expect(redactor(KEY).text(`open ${ref} and ${other} for ${KEY}`)).toBe(`open [REDACTED] and [REDACTED] for ${ref}`);
});

test('a short value is found where it is the whole text', () => {
  expect(redactor('1234').value(['1234', 'in 12345', 'pin 1234'])).toEqual([ref, 'in 12345', 'pin 1234']);
  expect(redactor('abc').text('abc')).toBe('abc');
});

test('the secrets of the host stay out as well, also of a text in pieces', () => {
  const both = redactor(KEY);
  expect(both.text('a host-secret-1 b')).toBe('a [REDACTED] b');
  const stream = both.stream();
  const said = ['the k-0123', '456789 and host', '-secret-1.'].map((piece) => stream.push(piece)).join('');
  expect(said + stream.end()).toBe('the [REDACTED] and [REDACTED].');
  const alone = new SensitiveRedactor([{ reference: ref, value: KEY }], [ref], null).stream();
  expect(alone.push(`x${KEY}`) + alone.end()).toBe('x[REDACTED]');
});
