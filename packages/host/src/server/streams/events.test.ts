import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type Json, type RunEventDoc, streamModes } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import type { NewRow } from '../../log/ports/rows.ts';
import { creation, row, runA } from '../../log/ports/samples.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { KEEPALIVE_MS } from './event-streams.ts';

const path = `/v1/runs/${runA}/events`;
const debug = `${path}?streamMode=debug`;
const stream = { accept: 'text/event-stream' };

/** A run in the store that no engine steps: rows come when the test writes them. */
async function withRun(...rows: readonly NewRow[]): Promise<Served> {
  const host = await served();
  await host.store.log.append(creation(runA));
  if (rows.length > 0) await host.store.log.append({ runId: runA, rows });
  return host;
}

const write = (host: Served, ...rows: readonly NewRow[]) => host.store.log.append({ runId: runA, rows });

const frames = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('id: '))
    .map((frame) => {
      const [id, event, data] = frame.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
      return { id: Number(id), event, doc: JSON.parse(data ?? '') as RunEventDoc };
    });

const operator = row('cairn.timer.set', { audience: 'operator' });
const done = row('run.completed');

test('gives the whole log as JSON unless a stream is asked for', async () => {
  const host = await withRun(row('node.started', { nodeId: 'a"b', cause: 0, payload: '{"x":[1,"ü"]}' }), done);
  const reply = await host.ask('GET', path);
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(reply.body.events).toMatchObject([
    { eventId: 'run_a:0', sequence: 0, type: 'run.started' },
    {
      sequence: 1,
      nodeId: 'a"b',
      causationId: 'run_a:0',
      payload: { x: [1, 'ü'] },
      timestamp: '1970-01-01T00:00:01.000Z',
    },
    { sequence: 2, type: 'run.completed' },
  ]);
});

test('gives a log of many pages as one JSON document', async () => {
  const host = await withRun();
  const big = JSON.stringify({ text: 'x'.repeat(2_000) });
  for (let i = 0; i < 12; i += 1) {
    await write(host, ...Array.from({ length: 100 }, () => row('node.completed', { payload: big })), operator);
  }
  await write(host, done);
  const { body } = await host.ask('GET', path);
  const sequences = (body.events as readonly { sequence: number }[]).map(({ sequence }) => sequence);
  expect(sequences).toHaveLength(1_202);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
});

test('reads a long log for its JSON form only as fast as the client takes it', async () => {
  const host = await withRun();
  const payload = JSON.stringify({ text: 'x'.repeat(100_000) });
  for (let i = 0; i < 20; i += 1) {
    await write(host, ...Array.from({ length: 10 }, () => row('node.completed', { payload })));
  }
  let reads = 0;
  const { read } = host.store.log;
  host.store.log.read = (range) => {
    reads += 1;
    return read(range);
  };
  const { response } = await openStream(host, {});
  // Twenty megabytes wait; nobody reads them. What is read ahead is what the sockets take.
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBeLessThan(40);
  const text = await readUntil(response, (all) => all.endsWith(']}'));
  expect(JSON.parse(text).events).toHaveLength(201);
  expect(reads).toBeGreaterThan(60);
});

test('streams every event with its id and type, then closes', async () => {
  const host = await withRun(row('node.started', { nodeId: 'a' }), done);
  const reply = await host.ask('GET', debug, { headers: stream });
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  expect(reply.headers.get('cache-control')).toBe('no-cache');
  expect(frames(reply.text)).toMatchObject([
    { id: 0, event: 'run.started', doc: { runId: runA, sequence: 0 } },
    { id: 1, event: 'node.started', doc: { nodeId: 'a' } },
    { id: 2, event: 'run.completed' },
  ]);
});

test.each([
  ['0', [1, 2]],
  ['1', [2]],
  ['2', []],
  ['99', []],
])('goes on after Last-Event-ID %s', async (id, expected) => {
  const host = await withRun(row('node.started'), done);
  const reply = await host.ask('GET', debug, { headers: { ...stream, 'last-event-id': id } });
  expect([reply.status, frames(reply.text).map((frame) => frame.id)]).toEqual([200, expected]);
});

test.each(['-1', '1.5', 'abc', '9007199254740993'])('refuses the Last-Event-ID %s', async (id) => {
  const host = await withRun(done);
  const reply = await host.ask('GET', debug, { headers: { ...stream, 'last-event-id': id } });
  expect(reply).toMatchObject({ status: 400, body: { error: 'validation_error' } });
});

test.each([
  ['streamMode=quantum', 'unsupported_stream_mode'],
  ['streamMode=debug,nonsense', 'unsupported_stream_mode'],
  ['streamMode=values,updates', 'unsupported_stream_mode'],
  ['streamMode=', 'unsupported_stream_mode'],
  ['bufferMs=5001', 'validation_error'],
  ['bufferMs=99999', 'validation_error'],
  ['bufferMs=-1', 'validation_error'],
  ['bufferMs=x', 'validation_error'],
  ['streamMode=quantum&bufferMs=x', 'unsupported_stream_mode'],
])('refuses %s, in either form and before it looks for the run', async (query, error) => {
  const host = await withRun(done);
  for (const headers of [stream, {}]) {
    for (const known of [path, '/v1/runs/run_unknown/events']) {
      const reply = await host.ask('GET', `${known}?${query}`, { headers });
      expect([reply.status, reply.body.error]).toEqual([400, error]);
      if (error === 'unsupported_stream_mode')
        expect(reply.body.details).toMatchObject({ supported: [...streamModes] });
    }
  }
});

test('shows operator rows only to a key that may audit, on every form', async () => {
  const host = await withRun(operator, done);
  const seen = async (key: string) => {
    const json = (await host.ask('GET', path, { key })).body.events as readonly Json[];
    const sse = frames((await host.ask('GET', debug, { key, headers: stream })).text);
    const poll = (await host.ask('GET', `${path}/poll`, { key })).body.events as readonly Json[];
    return [json.length, sse.length, poll.length];
  };
  expect(await seen(keys.alice)).toEqual([2, 2, 2]);
  expect(await seen(keys.auditor)).toEqual([3, 3, 3]);
});

/** A stream that is read only as far as the test wants. */
async function openStream(
  host: Served,
  form: Record<string, string> = stream,
): Promise<{ response: IncomingMessage; request: ClientRequest }> {
  const headers = { ...form, authorization: `Bearer ${keys.alice}` };
  const request = httpRequest({ port: host.port, host: '127.0.0.1', path: debug, headers, agent: false });
  request.on('error', () => undefined);
  onTestFinished(() => void request.destroy());
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  response.setEncoding('utf8');
  return { response, request };
}

/** Reads on until the text so far satisfies the condition. */
async function readUntil(response: IncomingMessage, enough: (text: string) => boolean): Promise<string> {
  let text = '';
  while (!enough(text)) {
    const chunk = response.read() as string | null;
    if (chunk === null) await once(response, 'readable');
    else text += chunk;
  }
  return text;
}

test('streams what is written while it is open, keeps silent connections alive, and ends with the run', async () => {
  const host = await withRun();
  const { response } = await openStream(host);
  await readUntil(response, (text) => frames(text).length === 1);
  await write(host, row('node.started'));
  await readUntil(response, (text) => frames(text).length === 1);
  host.timers.pass(KEEPALIVE_MS);
  host.timers.pass(KEEPALIVE_MS);
  await readUntil(response, (text) => text === ':keepalive\n\n:keepalive\n\n');
  await write(host, done);
  await readUntil(response, (text) => frames(text)[0]?.event === 'run.completed');
  response.resume();
  await once(response, 'end');
  expect(host.server.open.streams).toBe(0);
});

test('lets go of a stream whose client went away', async () => {
  const host = await withRun();
  const { request, response } = await openStream(host);
  await readUntil(response, (text) => text !== '');
  expect(host.server.open.streams).toBe(1);
  request.destroy();
  while (host.server.open.streams > 0) await new Promise((resolve) => setImmediate(resolve));
});

/** Asks for the stream and reads nothing of it. */
async function stalled(host: Served): Promise<Socket> {
  const socket = connect(host.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `GET ${debug} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${keys.alice}\r\n\r\n`,
  );
  await once(socket, 'readable');
  return socket;
}

test('a client that reads again after a stall gets everything, once', async () => {
  const host = await withRun();
  const socket = await stalled(host);
  const payload = JSON.stringify({ text: 'x'.repeat(50_000) });
  for (let i = 0; i < 100; i += 1) await write(host, row('node.completed', { payload }));
  host.timers.pass(KEEPALIVE_MS);
  await write(host, done);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const finished = Promise.withResolvers<void>();
  socket.on('data', () => {
    if (text.includes('event: run.completed')) finished.resolve();
  });
  await finished.promise;
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(Array.from({ length: 102 }, (_, i) => i));
});

test('ends streams and polls when it stops, and then stops', async () => {
  const host = await withRun();
  const { response } = await openStream(host);
  await readUntil(response, (text) => text !== '');
  const poll = host.ask('GET', `${path}/poll?lastSequence=5`);
  while (host.server.open.polls === 0) await new Promise((resolve) => setImmediate(resolve));
  response.resume();
  const [, reply] = await Promise.all([once(response, 'end'), poll, host.stop()]);
  expect(reply).toMatchObject({ status: 200, body: { events: [], isComplete: false } });
  await expect(fetch(host.url)).rejects.toThrow();
});

test('is not held up by a connection that never asked anything', async () => {
  const host = await withRun();
  const socket = connect(host.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  await host.ask('GET', path);
  // No span passes in this test: the stop must not wait for one.
  await host.stop();
});

test('cuts a request that does not finish when the time to stop is over', async () => {
  const host = await withRun();
  const socket = connect(host.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const head = `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${keys.alice}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  socket.write('{');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const stopped = host.stop();
  host.timers.pass(1_000);
  await Promise.all([stopped, closed]);
});

test('breaks the connection when the log cannot be read on, so that nobody takes it for the end', async () => {
  // More rows than the feed keeps of a young run: they are in the log alone.
  const host = await withRun(...Array.from({ length: 100 }, () => row('node.completed')));
  const { read } = host.store.log;
  host.store.log.read = (range) =>
    'after' in range && range.after >= 0 ? Promise.reject(new Error('disk')) : read(range);
  const reply = host.ask('GET', debug, { headers: { ...stream, 'last-event-id': '3' } });
  await expect(reply).rejects.toThrow();
  expect(host.reports.at(-1)).toMatchObject({ level: 'error', error: { message: 'disk' } });
});

test('streams text of any script whole, also in frames that come later', async () => {
  const host = await withRun();
  const reply = await fetch(`${host.url}${debug}`, { headers: { ...stream, authorization: `Bearer ${keys.alice}` } });
  if (reply.body === null) throw new Error('The reply has no body.');
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? '';
  const words = ['žluťoučký kůň', '日本語', '😀🚀'];
  for (const word of words) {
    const before = frames(text).length;
    await write(host, row('log.appended', { payload: JSON.stringify({ word }) }));
    while (frames(text).length === before) text += (await reader.read()).value ?? '';
  }
  await write(host, done);
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  const shown = frames(text);
  expect(shown.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
  expect(shown.slice(1, 4).map(({ doc }) => (doc.payload as { word: string }).word)).toEqual(words);
});
