import { expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';

const SECRET = 'sk-live/Ab+9 "q"\\é&~x';
const redactor = createRedactor([{ name: 'token', value: SECRET }]);
const MARKER = '[REDACTED]';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

test.each([
  ['as it is', SECRET],
  ['in JSON', JSON.stringify({ a: SECRET })],
  ['in JSON inside JSON', JSON.stringify(JSON.stringify({ a: SECRET }))],
  ['in JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
  ['in JSON of ASCII alone', asciiJson(SECRET)],
  ['in JSON for a page', JSON.stringify(SECRET).replaceAll('&', '\\u0026')],
  ['as a part of a URL', `https://a.example/?k=${encodeURIComponent(SECRET)}&x=1`],
  ['as a whole URL', encodeURI(SECRET)],
  ['as a form', new URLSearchParams({ k: SECRET }).toString()],
  ['in lower-case escapes', encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())],
  ['in base64', base64(SECRET)],
  ['in base64 with one byte before', base64(`:${SECRET}`)],
  ['in base64 with two bytes before', base64(`a:${SECRET}`)],
  ['in base64 in the middle', base64(`user:${SECRET}, and more`)],
  ['in base64url', base64url(`a:${SECRET}~~~`)],
  ['in base64 as a part of a URL', encodeURIComponent(base64(SECRET))],
  ['in base64 of JSON', base64(JSON.stringify({ key: SECRET }))],
  ['in JSON as a part of a URL', encodeURIComponent(JSON.stringify({ key: SECRET }))],
])('finds a secret %s', (_, text) => {
  const clean = redactor.text(`before ${text} after`);
  expect(clean).toContain(MARKER);
  expect(clean).toMatch(/^before .* after$/);
  for (const part of ['sk-live', base64(SECRET).slice(0, 12)]) expect(clean).not.toContain(part);
});

test('gives text without a secret back as it is', () => {
  const text = `nothing of it: ${SECRET.slice(0, -1)}, ${SECRET.slice(1)}`;
  expect(redactor.text(text)).toBe(text);
});

test('the marker tells nothing about the secret: neither its name nor its length', () => {
  const two = createRedactor([
    { name: 'short', value: 'aaaa-1111' },
    { name: 'long', value: 'bbbb-2222-cccc-3333' },
  ]);
  expect([two.text('aaaa-1111'), two.text('bbbb-2222-cccc-3333')]).toEqual([MARKER, MARKER]);
});

test('every occurrence becomes a marker of its own', () => {
  expect(redactor.text(`${SECRET}${SECRET} ${SECRET}`)).toBe(`${MARKER}${MARKER} ${MARKER}`);
});

test('secrets that overlap become one marker and leave no part behind', () => {
  const both = createRedactor([
    { name: 'short', value: 'abcdefgh' },
    { name: 'long', value: 'efghijklmn' },
    { name: 'inner', value: 'fghijklm' },
  ]);
  expect(both.text('>abcdefghijklmn<')).toBe('>[REDACTED]<');
  expect(both.text('>abcdefghabcdefgh<')).toBe('>[REDACTED][REDACTED]<');
});

test('finds a secret inside the beginning of another', () => {
  const nested = createRedactor([
    { name: 'outer', value: 'x-abcdefgh-y' },
    { name: 'inner', value: 'abcdefgh' },
  ]);
  expect(nested.text('x-abcdefgh-z')).toBe('x-[REDACTED]-z');
  expect(nested.text('x-abcdefgh-y')).toBe('[REDACTED]');
});

test('white space around a value of the configuration is not part of the secret', () => {
  expect(createRedactor([{ name: 'a', value: ' 12345678\n' }]).text('x12345678y')).toBe('x[REDACTED]y');
});

test('redacts texts and keys of a value and leaves the rest of it alone', () => {
  const date = new Date(0);
  const value = { [`k ${SECRET}`]: [1, null, true, { deep: `x${SECRET}` }], plain: 'text', date, none: undefined };
  expect(redactor.value(value)).toEqual({
    [`k ${MARKER}`]: [1, null, true, { deep: `x${MARKER}` }],
    plain: 'text',
    date,
    none: undefined,
  });
});

test('a value without a secret is given back itself, not a copy', () => {
  const value = { a: ['b', { c: 1 }] };
  expect(redactor.value(value)).toBe(value);
});

test('keys that are spellings of one secret stay apart', () => {
  const value = { first: 0, [SECRET]: 1, [encodeURIComponent(SECRET)]: 2, [MARKER]: 3 };
  expect(redactor.value(value)).toEqual({ first: 0, [MARKER]: 1, [`${MARKER}2`]: 2, [`${MARKER}3`]: 3 });
});

test('a key named __proto__ stays a key', () => {
  const value = JSON.parse(`{"__proto__":${JSON.stringify(SECRET)}}`) as object;
  expect(JSON.stringify(redactor.value(value))).toBe(`{"__proto__":"${MARKER}"}`);
});

test('the cost of a secret deep inside does not double with every level', () => {
  let value: unknown = SECRET;
  for (let depth = 0; depth < 500; depth++) value = depth % 2 === 0 ? [value] : { value };
  expect(JSON.stringify(redactor.value(value))).toContain(MARKER);
});

test('tells where a secret is, without showing it', () => {
  const two = createRedactor([
    { name: 'first', value: 'aaaa-1111' },
    { name: 'second', value: 'bbbb-2222' },
  ]);
  expect(two.secretIn({ nodes: [{}, { config: { url: 'x?bbbb-2222' } }] })).toEqual(['nodes', '1', 'config', 'url']);
  expect(two.secretIn({ 'is aaaa-1111': 0 })).toEqual(['is [REDACTED]']);
  expect(two.secretIn('[REDACTED] bbbb-2222')).toEqual([]);
  expect(two.secretIn({ a: ['[REDACTED]', 'bbbb'] })).toBeNull();
});

test.each([
  ['1234567', 'has 7 characters; it needs at least 8'],
  ['    1234567    ', 'has 7 characters; it needs at least 8'],
  ['half \ud800 a pair', 'holds half of a surrogate pair'],
  ['x [REDACTED] y', 'holds [REDACTED],'],
  ['REDACTED', 'is a part of what stands in the place of a secret'],
  [']]]]]]]]]]', 'has fewer than 8 characters beside those that the marker begins and ends with'],
])('refuses the secret %j, and does not repeat it', (value, why) => {
  const make = () => createRedactor([{ name: 'token', value }]);
  expect(make).toThrow(`The secret token ${why}`);
  expect(make).toThrow(expect.objectContaining({ code: 'config_invalid' }));
});

test('a marker never completes a secret that ends or begins as markers do', () => {
  const values = { open: 'hunter-22[', closed: 'n]tiger-33', plain: 'lion-4444' };
  const cats = createRedactor(Object.entries(values).map(([name, value]) => ({ name, value })));
  const clean = cats.text('hunter-22lion-4444tiger-33');
  for (const value of Object.values(values)) expect(clean).not.toContain(value);
  expect(cats.text('>hunter-22[<')).toBe('>[REDACTED][<');
});

test('a stream gives ordinary text on at once, and holds back only what may be a beginning', () => {
  const stream = createRedactor([{ name: 'key', value: 'sk-0123456789' }]).stream();
  expect(stream.push('What is it? ')).toBe('What is it? ');
  expect(stream.push('It is sk')).toBe('It is ');
  expect(stream.push('y-blue, not sk-01')).toBe('sky-blue, not ');
  expect(stream.push('23456789')).toBe('');
  expect(stream.push('!')).toBe('[REDACTED]!');
  expect(stream.push(' sk-01')).toBe(' ');
  expect(stream.end()).toBe('sk-01');
});

test('a stream that is all secret does not gather it', () => {
  const stream = createRedactor([{ name: 'key', value: 'aaaaaaaa' }]).stream();
  for (let i = 0; i < 1_000; i++) expect(stream.push('a'.repeat(1_000))).toBe('');
  expect(stream.push('.') + stream.end()).toBe('[REDACTED].');
});
