import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLoadView } from '../../engine/loading/run-view.ts';
import { FairTurns } from '../../fair-turns.ts';
import { LiveFeed } from '../../log/feed/feed.ts';
import type { Sink } from '../../log/feed/sink.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { context as contextId, creation, row, runA } from '../../log/ports/samples.kit.ts';
import { everyTaskEvent } from '../../log/tasks/task-filter.ts';
import type { Caller } from '../access/auth.ts';
import { ContextStreams } from '../contexts/context-stream.ts';
import { UnreadBytes, type UnreadLimits } from '../http/unread-bytes.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { EventStreams, KEEPALIVE_MS } from './event-streams.ts';
import { SnapshotFeed } from './snapshot-feed.ts';

const record = { runId: runA, contextId, tenant: 't', endedAt: null };
const payload = JSON.stringify({ text: 'x'.repeat(100_000) });
const rows = Array.from({ length: 10 }, () => row('node.completed', { payload }));

const caller: Caller = {
  tenant: 't',
  principal: 'ann',
  scopes: new Set(),
  toolScopes: [],
  audience: undefined,
  credential: 'key',
  expiresAt: undefined,
};

interface Asked {
  readonly expiresAt?: number | undefined;
  readonly lastSeq?: number | null;
  /** What the feed's pace says. */
  readonly holdMs?: number;
  readonly limits?: Partial<UnreadLimits>;
  /** Whether it asked for the context instead. */
  readonly ofContext?: boolean;
}

/** A client that asked for a run's stream, and the response that is written to it. */
async function client({ expiresAt, holdMs = 0, lastSeq = null, limits, ofContext = false }: Asked = {}) {
  const { log, contexts, checkpoints } = inMemoryStore();
  const timers = new ManualTimers();
  const turns = new FairTurns({ budget: 1_000_000, nextTurn: setImmediate });
  const load = createLoadView({ log, checkpoints });
  const snapshots = new SnapshotFeed({ log, load, turns, timers, now: () => 0 });
  const clock = { at: 1_000_000 };
  const pace = { holdMs: () => holdMs, after: (ms: number, wake: () => void) => void timers.after(ms, wake) };
  const feed = new LiveFeed({ log, contexts }, { pace });
  await log.append(creation(runA));
  const unread = new UnreadBytes({ maxUnreadBytesPerTenant: 1e9, maxUnreadBytes: 1e9, ...limits }, timers);
  const streams = new EventStreams({
    feed,
    snapshots,
    timers,
    now: () => clock.at,
    report: () => undefined,
    unread,
    turns,
  });
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    const modes = new Set(['debug'] as const);
    const filter = { ...everyTaskEvent, debug: true, coalesce: false };
    if (ofContext)
      new ContextStreams({ feed, streams }).serveContext(response, { caller, contextId, from: 0, head: 1, filter });
    else streams.serve(response, { tenant: 't', record, lastSeq, audience: 'client', modes, bufferMs: 0, expiresAt });
    asked.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  return { log, timers, clock, streams, unread, socket, response: await asked.promise };
}

/** One that reads nothing of what comes. */
async function stalledClient(asked: Asked = {}) {
  const opened = await client(asked);
  await once(opened.socket, 'readable');
  return opened;
}

test('a client that stops reading costs the same memory however much is written, and is cut after a minute', async () => {
  const { log, timers, streams, response } = await stalledClient();
  let most = 0;
  for (let i = 0; i < 40; i += 1) {
    await log.append({ runId: runA, rows });
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, response.writableLength);
  }
  // 40 MB went into the run; the connection holds a page of it at most.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(1_000_000);
  const closed = once(response, 'close');
  for (let tick = 0; tick < 4; tick += 1) timers.pass(KEEPALIVE_MS);
  expect(response.destroyed).toBe(false);
  timers.pass(KEEPALIVE_MS);
  await closed;
  expect(streams.size).toBe(0);
});

describe('a client of a context that stops reading is told why it is cut', () => {
  async function reproached() {
    const opened = await stalledClient({ ofContext: true });
    for (let i = 0; i < 40; i += 1) await opened.log.append({ runId: runA, rows });
    for (let tick = 0; tick < 5; tick += 1) opened.timers.pass(KEEPALIVE_MS);
    expect([opened.response.writableEnded, opened.response.destroyed]).toEqual([true, false]);
    // What comes now is for its next connection.
    const waiting = opened.response.writableLength;
    await opened.log.append({ runId: runA, rows });
    expect(opened.response.writableLength).toBe(waiting);
    return opened;
  }

  test('reads it after all that came before, if it wakes soon', async () => {
    const { socket, streams, timers } = await reproached();
    let text = '';
    for await (const part of socket.setEncoding('utf8')) text += String(part);
    expect(text.split('stream:closing')).toHaveLength(2);
    expect(text.trimEnd()).toMatch(/\nevent: stream:closing\ndata: {"reason":"slow-consumer"}\s+0$/);
    expect([streams.size, timers.size]).toEqual([0, 0]);
  });

  test('is gone one keepalive later, if it does not', async () => {
    const { response, streams, timers } = await reproached();
    const closed = once(response, 'close');
    timers.pass(KEEPALIVE_MS);
    await closed;
    expect([streams.size, timers.size]).toEqual([0, 0]);
  });
});

test('a client that reads a little from time to time is not cut', async () => {
  const { log, timers, socket, response } = await stalledClient();
  // The two sockets hold about four megabytes between them: there must be more for every tick.
  for (let i = 0; i < 60; i += 1) await log.append({ runId: runA, rows });
  for (let tick = 0; tick < 8; tick += 1) {
    const drained = once(response, 'drain');
    socket.resume();
    await drained;
    socket.pause();
    timers.pass(KEEPALIVE_MS);
  }
  expect(response.destroyed).toBe(false);
});

test('no keepalive is written, and no timer runs, once nobody listens', async () => {
  const { timers, streams, socket, response } = await stalledClient();
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  expect([streams.size, timers.size]).toEqual([0, 0]);
});

test('a stream ends with the credential that opened it, and no earlier', async () => {
  const { timers, clock, streams, socket, response } = await stalledClient({ expiresAt: 1_060_000 });
  socket.resume();
  clock.at = 1_059_999;
  timers.pass(KEEPALIVE_MS);
  expect([streams.size, response.writableEnded]).toEqual([1, false]);
  clock.at = 1_060_000;
  timers.pass(KEEPALIVE_MS);
  expect([streams.size, response.writableEnded]).toEqual([0, true]);
});

test('a busy host tells a client that it is connected with the first events, or after a moment without', async () => {
  const { log, timers, socket } = await client({ holdMs: 20 });
  const texts: string[] = [];
  socket.setEncoding('utf8').on('data', (text: string) => texts.push(text));
  await vi.waitFor(() => expect([timers.waiting(20), timers.waiting(40)]).toEqual([1, 1]));
  expect(texts).toEqual([]);
  timers.pass(20);
  await vi.waitFor(() => expect(texts.join('')).toMatch(/^HTTP.1.1 200 OK.*\nevent: run.started\n/s));
  await log.append({ runId: runA, rows: [row('x')] });
  timers.pass(40);
  timers.pass(20);
  await vi.waitFor(() => expect(texts.join('')).toMatch(/\nevent: x\n/));
  expect(texts.join('').match(/HTTP.1.1/g)).toHaveLength(1);
});

test('a keepalive that is due before the first events takes the head with it', async () => {
  const { log, timers, socket } = await client({ holdMs: 20, lastSeq: 0 });
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  timers.pass(KEEPALIVE_MS);
  timers.pass(40);
  await log.append({ runId: runA, rows: [row('run.completed')] });
  await once(socket, 'end');
  expect(text).toMatch(/^HTTP.1.1 200 OK.*\r\n:keepalive\n\n.*\nevent: run.completed\n/s);
  expect(text.match(/HTTP.1.1/g)).toHaveLength(1);
});

test('a client of a busy host in which nothing happens learns that it is connected', async () => {
  const { timers, socket, response } = await client({ holdMs: 20, lastSeq: 0 });
  await vi.waitFor(() => expect(timers.waiting(40)).toBe(1));
  timers.pass(20);
  expect(response.socket?.bytesWritten).toBe(0);
  timers.pass(40);
  const [text] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
  expect(text).toMatch(/^HTTP.1.1 200 OK/);
});

test('what a stalled client leaves unread is counted until it reads, and a tenant over its limit loses the stream', async () => {
  const large = row('node.completed', { payload: JSON.stringify('x'.repeat(1_000_000)) });
  const held = await stalledClient();
  for (let i = 0; i < 10; i += 1) await held.log.append({ runId: runA, rows: [large] });
  expect(held.unread.total).toBeGreaterThan(500_000);
  expect(held.unread.total).toBeLessThan(3_000_000);
  held.socket.resume();
  await vi.waitFor(() => expect(held.unread.total).toBe(0));
  const cut = await stalledClient({ limits: { maxUnreadBytesPerTenant: 500_000 } });
  for (let i = 0; i < 10; i += 1) await cut.log.append({ runId: runA, rows: [large] });
  expect(cut.response.destroyed).toBe(true);
  await vi.waitFor(() => expect([cut.streams.size, cut.unread.total]).toEqual([0, 0]));
});

const parts = Array.from({ length: 100 }, (_, i) => `${i} `.repeat(20_000));

/** The body of a chunked response. */
function bodyOf(raw: string): string {
  let body = '';
  for (let at = raw.indexOf('\r\n\r\n') + 4; ; ) {
    const line = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.slice(at, line), 16);
    if (size === 0) return body;
    body += raw.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

/** A client of a stream that its test writes to. */
async function written() {
  const opened = await client();
  const { streams, unread, timers } = opened;
  const asked = Promise.withResolvers<{ readonly sink: Sink; readonly response: ServerResponse }>();
  let resumed = 0;
  const server = createServer((_request, response) =>
    streams.serveFrom(response, { tenant: 't', expiresAt: undefined, what: 'test' }, (sink) => {
      asked.resolve({ sink, response });
      const resume = () => {
        resumed += 1;
      };
      return { resume, close: () => undefined };
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.setEncoding('latin1').pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return { ...(await asked.promise), socket, unread, timers, resumed: () => resumed };
}

test('a long text is written part by part: nothing comes between, and more is taken only after it', async () => {
  const { sink, socket, timers, unread, resumed } = await written();
  expect(sink.write({ text: 'first ', rest: parts, upTo: 1, urgent: true, isLast: false })).toBe(false);
  await vi.waitFor(() => expect(unread.total).toBeGreaterThan(1_000_000));
  timers.pass(KEEPALIVE_MS);
  expect(resumed()).toBe(0);
  let raw = '';
  socket.on('data', (text: string) => {
    raw += text;
  });
  socket.resume();
  await vi.waitFor(() => expect(resumed()).toBe(1));
  sink.write({ text: ' last', upTo: 2, urgent: true, isLast: true });
  sink.end();
  await vi.waitFor(() => expect(raw.endsWith('0\r\n\r\n')).toBe(true));
  expect(bodyOf(raw) === `first ${parts.join('')} last`).toBe(true);
  expect(unread.total).toBe(0);
});

test('a long text that is the last ends the stream, however slowly it is read', async () => {
  const { sink, socket, response } = await written();
  sink.write({ text: 'first ', rest: parts, upTo: 1, urgent: true, isLast: true });
  sink.end();
  expect(response.writableEnded).toBe(false);
  let raw = '';
  socket.on('data', (text: string) => {
    raw += text;
  });
  socket.resume();
  await vi.waitFor(() => expect(raw.endsWith('0\r\n\r\n')).toBe(true));
  expect(bodyOf(raw) === `first ${parts.join('')}`).toBe(true);
});

test('a client that leaves in the middle of a long text costs nothing more', async () => {
  const { sink, socket, response, unread } = await written();
  sink.write({ text: 'first', rest: parts, upTo: 1, urgent: true, isLast: false });
  await vi.waitFor(() => expect(unread.total).toBeGreaterThan(1_000_000));
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  expect(unread.total).toBe(0);
});
