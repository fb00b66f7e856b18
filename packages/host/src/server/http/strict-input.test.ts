/** What is refused before a handler sees it, byte by byte. */
import { errorEnvelope } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { noop } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { RawConnection } from './raw-http.kit.ts';

const auth = `Authorization: Bearer ${keys.alice}\r\n`;
const lines = (...text: readonly string[]) => text.join('\r\n');

/** Sends bytes on a fresh connection; gives the first answer and whether the connection was ended after it. */
async function raw(host: Served, bytes: string | Uint8Array, method = 'GET') {
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  connection.send(bytes);
  const response = await connection.response(method);
  return { status: response?.status, headers: response?.headers ?? {}, body: response?.body ?? '' };
}

/** A POST of these bytes as JSON. */
function post(body: string | Uint8Array, headers = 'Content-Type: application/json\r\n'): Buffer {
  const bytes = Buffer.from(body as string);
  const head = `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n${auth}${headers}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

const deep = (depth: number, open = '[', close = ']') => `${open.repeat(depth)}${close.repeat(depth)}`;

test.each<[string, () => string | Uint8Array, number, string]>([
  [
    'JSON 10,000 levels deep',
    () => post(`{"workflowId":"noop","inputs":{"a":${deep(10_000)}}}`),
    400,
    'validation_error',
  ],
  ['objects 10,000 levels deep', () => post(deep(10_000, '{"a":', '}')), 400, 'validation_error'],
  ['brackets that never close', () => post('['.repeat(60_000)), 400, 'validation_error'],
  ['a key twice', () => post('{"workflowId":"noop","workflowId":"noop"}'), 400, 'validation_error'],
  ['a key twice, once escaped', () => post('{"workflowId":"a","\\u0077orkflowId":"b"}'), 400, 'validation_error'],
  [
    'a key twice, far below',
    () => post('{"workflowId":"noop","inputs":{"a":[{"b":1,"b":1}]}}'),
    400,
    'validation_error',
  ],
  ['a key __proto__', () => post('{"workflowId":"noop","inputs":{"__proto__":{}}}'), 400, 'validation_error'],
  ['an unknown field', () => post('{"workflowId":"noop","colour":"red"}'), 400, 'validation_error'],
  ['an unknown field below', () => post('{"workflowId":"noop","tags":["a"],"metadata":[]}'), 400, 'validation_error'],
  ['overlong UTF-8', () => post(Buffer.from([0x22, 0xc0, 0xaf, 0x22])), 400, 'validation_error'],
  ['a lone surrogate in UTF-8', () => post(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 400, 'validation_error'],
  ['UTF-16', () => post(Buffer.from('{"workflowId":"noop"}', 'utf16le')), 400, 'validation_error'],
  ['two values', () => post('{"workflowId":"noop"}{}'), 400, 'validation_error'],
  ['a comment', () => post('{"workflowId":"noop"/*x*/}'), 400, 'validation_error'],
  ['NaN', () => post('{"workflowId":"noop","inputs":{"a":NaN}}'), 400, 'validation_error'],
  ['a number beyond every double', () => post('{"workflowId":"noop","inputs":{"a":1e999}}'), 400, 'validation_error'],
  [
    'such a number with an idempotency key',
    () =>
      post(
        '{"workflowId":"noop","inputs":{"a":[-1e999]}}',
        'Content-Type: application/json\r\nIdempotency-Key: k1\r\n',
      ),
    400,
    'validation_error',
  ],
  ['a body that is too large', () => post(`{"workflowId":"${'x'.repeat(70_000)}"}`), 413, 'payload_too_large'],
  [
    'another charset',
    () => post('{}', 'Content-Type: application/json; charset=utf-16\r\n'),
    415,
    'unsupported_media_type',
  ],
  ['a form', () => post('a=b', 'Content-Type: application/x-www-form-urlencoded\r\n'), 415, 'unsupported_media_type'],
  ['no media type', () => post('{}', ''), 415, 'unsupported_media_type'],
  ['a media type that is none', () => post('{}', 'Content-Type: ;;;\r\n'), 415, 'unsupported_media_type'],
  [
    'JSON of another kind',
    () => post('{}', 'Content-Type: application/merge-patch+json\r\n'),
    415,
    'unsupported_media_type',
  ],
  [
    'a compressed body',
    () => post('{}', 'Content-Type: application/json\r\nContent-Encoding: gzip\r\n'),
    415,
    'unsupported_media_type',
  ],
  [
    'a body that its transfer compresses',
    () =>
      lines(
        'POST /v1/runs HTTP/1.1',
        'Host: localhost',
        auth.trim(),
        'Content-Type: application/json',
        'Transfer-Encoding: gzip, chunked',
        '',
        '2',
        '{}',
        '0',
        '',
        '',
      ),
    415,
    'unsupported_media_type',
  ],
  [
    'two media types',
    () => post('{}', 'Content-Type: application/json\r\nContent-Type: text/plain\r\n'),
    400,
    'validation_error',
  ],
  [
    'a length that lies about a body in chunks',
    () =>
      lines('POST /v1/runs HTTP/1.1', 'Host: a', 'Content-Length: 4', 'Transfer-Encoding: chunked', '', '0', '', ''),
    400,
    'validation_error',
  ],
  [
    'two lengths',
    () => lines('POST /v1/runs HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 2', '', 'x'),
    400,
    'validation_error',
  ],
  [
    'a length below zero',
    () => lines('POST /v1/runs HTTP/1.1', 'Host: a', 'Content-Length: -1', '', ''),
    400,
    'validation_error',
  ],
  [
    'chunks that are none',
    () =>
      lines(
        'POST /v1/runs HTTP/1.1',
        'Host: localhost',
        `${auth.trim()}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        '',
        'zz',
        'x',
        '',
      ),
    400,
    'validation_error',
  ],
  [
    'a GET with a body',
    () => lines('GET /v1/runs HTTP/1.1', 'Host: localhost', 'Content-Length: 2', '', '{}'),
    400,
    'validation_error',
  ],
  [
    'a GET with a body in chunks',
    () => lines('GET /v1/runs HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', '', '0', '', ''),
    400,
    'validation_error',
  ],
  ['no Host', () => lines('GET /v1/runs HTTP/1.1', '', ''), 403, 'forbidden'],
  [
    'two Hosts',
    () => lines('GET /v1/runs HTTP/1.1', 'Host: localhost', 'Host: localhost', '', ''),
    400,
    'validation_error',
  ],
  [
    'two credentials',
    () => lines('GET /v1/runs HTTP/1.1', 'Host: localhost', auth + auth.trim(), '', ''),
    400,
    'validation_error',
  ],
  [
    'an expectation nobody meets',
    () => lines('GET /v1/runs HTTP/1.1', 'Host: localhost', 'Expect: wonders', '', ''),
    400,
    'validation_error',
  ],
  [
    'a tunnel',
    () => lines('CONNECT example.com:443 HTTP/1.1', 'Host: example.com:443', '', ''),
    400,
    'validation_error',
  ],
  ['a header without a name', () => lines('GET /v1/runs HTTP/1.1', ': x', '', ''), 400, 'validation_error'],
  [
    'a header with a control character',
    () => 'GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n',
    400,
    'validation_error',
  ],
  [
    'headers that go on for ever',
    () => `GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    400,
    'validation_error',
  ],
  [
    'a thousand headers',
    () => `GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(1_000)}\r\n`,
    400,
    'validation_error',
  ],
  [
    'an address that goes on for ever',
    () => `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    400,
    'validation_error',
  ],
  [
    'an address of somebody else',
    () => lines('GET http://evil.example/v1/runs HTTP/1.1', 'Host: localhost', '', ''),
    400,
    'validation_error',
  ],
  [
    'an address that cannot be decoded',
    () => lines('GET /v1/runs/%zz HTTP/1.1', 'Host: localhost', '', ''),
    400,
    'validation_error',
  ],
  [
    'an id of 2,000 characters',
    () => lines(`GET /v1/runs/${'x'.repeat(2_000)} HTTP/1.1`, 'Host: localhost', auth.trim(), '', ''),
    404,
    'not_found',
  ],
  [
    'an id with a zero byte',
    () => lines('GET /v1/runs/run_%00 HTTP/1.1', 'Host: localhost', auth.trim(), '', ''),
    404,
    'not_found',
  ],
  [
    'a path that climbs',
    () => lines('GET /v1/runs/../../etc/passwd HTTP/1.1', 'Host: localhost', auth.trim(), '', ''),
    404,
    'not_found',
  ],
  [
    'a method that is not served',
    () => lines('PATCH /v1/runs HTTP/1.1', 'Host: localhost', '', ''),
    405,
    'method_not_allowed',
  ],
  [
    'a method of WebDAV',
    () => lines('PROPFIND /v1/runs HTTP/1.1', 'Host: localhost', '', ''),
    405,
    'method_not_allowed',
  ],
  ['TRACE', () => lines('TRACE /v1/runs HTTP/1.1', 'Host: localhost', '', ''), 405, 'method_not_allowed'],
  ['OPTIONS of everything', () => lines('OPTIONS * HTTP/1.1', 'Host: localhost', '', ''), 400, 'validation_error'],
])('refuses %s with the envelope', async (_name, bytes, status, error) => {
  const host = await served();
  await host.engine.register('t', noop);
  const reply = await raw(host, bytes());
  const body = errorEnvelope.parse(JSON.parse(reply.body));
  expect([reply.status, body.error]).toEqual([status, error]);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(host.reports.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a refusal of HEAD has no body', async () => {
  const host = await served();
  const head = (path: string, ...headers: readonly string[]) =>
    raw(host, lines(`HEAD ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''), 'HEAD');
  const wrong = await head('/v1/runs:bulk-cancel');
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'POST']);
  expect((await head('/v1/runs')).status).toBe(401);
  expect((await head('/v1/nothing', auth.trim())).status).toBe(404);
});

test('a body that grows past the limit in chunks is refused before it is all there', async () => {
  const host = await served();
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  connection.send(
    lines(
      'POST /v1/runs HTTP/1.1',
      'Host: localhost',
      auth.trim(),
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      '',
    ),
  );
  for (let sent = 0; sent < 70_000; sent += 10_000) connection.send(`2710\r\n${'x'.repeat(10_000)}\r\n`);
  const reply = await connection.response();
  expect([reply?.status, reply?.headers.connection]).toEqual([413, 'close']);
});

test('a request that is refused leaves the connection in step for the next one', async () => {
  const host = await served();
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  const body = '{"workflowId":"nothing-here"}';
  const create = lines(
    'POST /v1/runs HTTP/1.1',
    'Host: localhost',
    auth.trim(),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  );
  const read = lines('GET /v1/runs HTTP/1.1', 'Host: localhost', auth.trim(), '', '');
  connection.send(create + read + create);
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await connection.response())?.status);
  expect(statuses).toEqual([404, 200, 404]);
});

test('a body is plain under any spelling of it, whole or in chunks', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const body = '{"workflowId":"noop"}';
  const json = 'Content-Type: application/json\r\n';
  expect((await raw(host, post(body, `${json}Content-Encoding: Identity\r\n`))).status).toBe(201);
  const chunks = ['Transfer-Encoding: Chunked', '', body.length.toString(16), body, '0', '', ''];
  const head = ['POST /v1/runs HTTP/1.1', 'Host: localhost', auth.trim(), json.trim()];
  expect((await raw(host, lines(...head, ...chunks))).status).toBe(201);
});

test('"Expect: 100-continue" is answered, and the body then read', async () => {
  const host = await served();
  await host.engine.register('t', noop);
  const connection = await RawConnection.open(host.port);
  onTestFinished(() => connection.close());
  const body = '{"workflowId":"noop"}';
  connection.send(
    lines(
      'POST /v1/runs HTTP/1.1',
      'Host: localhost',
      auth.trim(),
      'Content-Type: application/json',
      'Expect: 100-continue',
      `Content-Length: ${body.length}`,
      '',
      body,
    ),
  );
  expect((await connection.response())?.status).toBe(201);
});
