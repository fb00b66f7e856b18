/** Streams by mode: what each shows over HTTP, how it goes on after a break, and that every one ends with the run. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventsAnswer, isJsonObject, type Json, type JsonObject, runSnapshotSchema } from '@cairn/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect, onTestFinished, test } from 'vitest';
import type { NewRow } from '../../log/ports/rows.ts';
import { creation, resolved, row, runA } from '../../log/ports/samples.kit.ts';
import { approval, chain } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const path = `/v1/runs/${runA}/events`;

/** A run in the store that no engine steps: rows come when the test writes them. */
async function withRun(...rows: readonly NewRow[]): Promise<Served> {
  const host = await served();
  await host.store.log.append(creation(runA));
  if (rows.length > 0) await host.store.log.append({ runId: runA, rows });
  return host;
}

const write = (host: Served, ...rows: readonly NewRow[]) => host.store.log.append({ runId: runA, rows });

const chunk = (text: string) =>
  row('output.chunk', {
    nodeId: 'a',
    payload: JSON.stringify({ nodeId: 'a', runId: runA, chunk: text, isLast: false }),
  });

const node = (type: string, nodeId = 'a', payload: JsonObject = {}) =>
  row(type, { nodeId, payload: JSON.stringify({ nodeId, ...payload }) });

const history = [
  node('node.started'),
  row('variable.changed', { payload: '{"name":"n","next":1}' }),
  chunk('Hel'),
  chunk('lo'),
  row('acme.thing.happened'),
  row('cairn.timer.set', { audience: 'operator' }),
  node('node.completed'),
  row('run.completed'),
];

interface Message {
  readonly id: number;
  readonly event: string;
  readonly data: Json;
}

const messagesOf = (text: string): readonly Message[] => {
  const messages: Message[] = [];
  const parser = createParser({
    onEvent: ({ id, event = '', data }: EventSourceMessage) =>
      messages.push({ id: Number(id), event, data: JSON.parse(data) as Json }),
  });
  parser.feed(text);
  return messages;
};

async function streamed(host: Served, query: string, headers: Readonly<Record<string, string>> = {}) {
  const reply = await host.ask('GET', `${path}${query}`, { headers: { accept: 'text/event-stream', ...headers } });
  expect(reply.status).toBe(200);
  return messagesOf(reply.text);
}

const shown = (messages: readonly Message[]) => messages.map(({ id, event }) => `${id} ${event}`);

test.each([
  ['', ['0 run.started', '7 node.completed', '8 run.completed']],
  ['?streamMode=updates', ['0 run.started', '7 node.completed', '8 run.completed']],
  ['?streamMode=messages', ['3 ai.message.chunk', '4 ai.message.chunk']],
  [
    '?streamMode=updates,messages',
    ['0 run.started', '3 ai.message.chunk', '4 ai.message.chunk', '7 node.completed', '8 run.completed'],
  ],
  [
    '?streamMode=debug,updates',
    [
      '0 run.started',
      '1 node.started',
      '2 variable.changed',
      '3 output.chunk',
      '4 output.chunk',
      '5 acme.thing.happened',
      '7 node.completed',
      '8 run.completed',
    ],
  ],
])('a stream with "%s" shows exactly its events and closes with the run', async (query, expected) => {
  const host = await withRun(...history);
  const messages = await streamed(host, query);
  expect(shown(messages)).toEqual(expected);
  for (const { id, event, data } of messages) {
    expect(data).toMatchObject({ sequence: id, type: event, runId: runA, eventId: `${runA}:${id}` });
  }
});

test.each([
  ['updates', '0', ['7 node.completed', '8 run.completed']],
  ['updates', '5', ['7 node.completed', '8 run.completed']],
  ['updates', '7', ['8 run.completed']],
  ['updates', '8', []],
  ['messages', '3', ['4 ai.message.chunk']],
  ['messages', '4', []],
  ['debug', '6', ['7 node.completed', '8 run.completed']],
])('in %s the client goes on after %s without a repeat', async (mode, id, expected) => {
  const host = await withRun(...history);
  expect(shown(await streamed(host, `?streamMode=${mode}`, { 'last-event-id': id }))).toEqual(expected);
});

test('a message says what the chunk in the log says', async () => {
  const host = await withRun(...history);
  const [first] = await streamed(host, '?streamMode=messages');
  expect(first?.data).toMatchObject({ payload: { nodeId: 'a', runId: runA, chunk: 'Hel', isLast: false } });
});

test('the JSON form is the whole log, whatever the mode', async () => {
  const host = await withRun(...history);
  for (const query of ['', '?streamMode=messages', '?streamMode=values&bufferMs=100']) {
    const { body } = await host.ask('GET', path + query);
    expect(eventsAnswer.parse(body).events.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4, 5, 7, 8]);
  }
});

test('values gives the state after each transition, as a snapshot that says where it is', async () => {
  const host = await withRun(...history);
  const messages = await streamed(host, '?streamMode=values');
  expect(shown(messages)).toEqual(['0', '1', '7', '8'].map((id) => `${id} state.snapshot`));
  const states = messages.map(({ data }) => (data as JsonObject).payload as JsonObject);
  expect(states.map(({ status, atSeq }) => [status, atSeq])).toEqual([
    ['running', 0],
    ['running', 1],
    ['running', 7],
    ['completed', 8],
  ]);
  expect(states.map(({ variables }) => variables)).toEqual([{}, {}, { n: 1 }, { n: 1 }]);
  for (const state of states) expect(runSnapshotSchema.safeParse(state).success).toBe(true);
  expect(messages[2]?.data).toMatchObject({
    sequence: 7,
    type: 'state.snapshot',
    causationId: `${runA}:7`,
    runId: runA,
  });
});

test.each(['0', '4', '8', '99'])('values after %s begins with the state as it is', async (id) => {
  const host = await withRun(...history);
  const messages = await streamed(host, '?streamMode=values', { 'last-event-id': id });
  expect(shown(messages)).toEqual(['8 state.snapshot']);
});

test('follows a run that was just started here without a read of the log, for its own tenant alone', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<string>();
  const host = await served({ steps: [{ typeId: 'acme.wait', safety: 'idempotent', run: () => released }] });
  await host.engine.register('t', chain('waits', { typeId: 'acme.wait' }));
  const { runId } = (await host.ask('POST', '/v1/runs', { body: { workflowId: 'waits' } })).body;
  let reads = 0;
  const { head } = host.store.log;
  host.store.log.head = (of) => {
    reads += 1;
    return head(of);
  };
  const path = `/v1/runs/${runId}/events?streamMode=debug`;
  const accept = 'text/event-stream';
  expect((await host.ask('GET', path, { key: keys.stranger, headers: { accept } })).status).toBe(404);
  expect(reads).toBe(1);
  const reader = await open(host, path);
  await reader.until((all) => all.length > 1);
  expect(reads).toBe(1);
  release('done');
  const all = await reader.end();
  // It is over, and not young any more.
  expect(await (await open(host, path)).end()).toEqual(all);
  expect(reads).toBe(2);
});

test('values shows what GET of the run shows, and follows it live to the end', async () => {
  const host = await served();
  await host.engine.register('t', approval);
  const created = await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval' } });
  const runId = created.body.runId as string;
  const reader = await open(host, `/v1/runs/${runId}/events?streamMode=values`);
  const waiting = await reader.until((all) => payloadOf(all.at(-1)).status === 'waiting-approval');
  const { atSeq, ...state } = payloadOf(waiting.at(-1));
  expect(state).toEqual((await host.ask('GET', `/v1/runs/${runId}`)).body);
  expect(atSeq).toBe(waiting.at(-1)?.id);
  const nodeId = state.currentNodeId as string;
  await host.ask('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { body: { resumeValue: { action: 'accept' } } });
  const all = await reader.end();
  const ids = all.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(payloadOf(all.at(-1)).status).toBe('completed');
});

const payloadOf = (message: Message | undefined): JsonObject =>
  ((message?.data as JsonObject | undefined)?.payload as JsonObject | undefined) ?? {};

/** A stream read as it comes. */
async function open(host: Served, url: string, headers: Record<string, string> = {}) {
  const response = await fetch(host.url + url, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${keys.alice}`, ...headers },
  });
  if (response.body === null) throw new Error('The response has no body.');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel().catch(() => undefined));
  let text = '';
  const more = async () => {
    const { done, value } = await reader.read();
    text += value ?? '';
    return !done;
  };
  return {
    async until(enough: (messages: readonly Message[]) => boolean) {
      while (!enough(messagesOf(text))) if (!(await more())) throw new Error(`ended with ${text}`);
      return messagesOf(text);
    },
    async end() {
      while (await more());
      return messagesOf(text);
    },
  };
}

const documentsIn = (message: Message | undefined): readonly JsonObject[] =>
  Array.isArray(message?.data) ? message.data.filter(isJsonObject) : [];
const idsIn = (message: Message | undefined) => documentsIn(message).map(({ sequence }) => sequence);

test('a buffered stream holds events back for its time and sends them as one batch', async () => {
  const host = await withRun();
  const reader = await open(host, `${path}?streamMode=debug&bufferMs=700`);
  await write(host, node('node.started'));
  await write(host, row('log.appended'));
  while (host.timers.waiting(700) === 0) await new Promise((resolve) => setImmediate(resolve));
  host.timers.pass(700);
  const [batch, ...others] = await reader.until((all) => all.length > 0);
  expect([batch?.event, batch?.id, idsIn(batch), others]).toEqual(['batch', 2, [0, 1, 2], []]);
  expect(documentsIn(batch)[1]).toMatchObject({ eventId: `${runA}:1`, type: 'node.started', nodeId: 'a' });
});

test.each([
  ['run.completed', true],
  ['node.suspended', false],
])('%s sends what was held back at once', async (type, ends) => {
  const host = await withRun();
  const reader = await open(host, `${path}?bufferMs=5000`);
  await write(host, node('node.completed'), node(type));
  // No span passes in this test.
  const batches = ends
    ? await reader.end()
    : await reader.until((all) => all.flatMap((message) => idsIn(message)).includes(2));
  expect(batches.map(({ event }) => event)).toContain('batch');
  expect(batches.flatMap((batch) => idsIn(batch))).toEqual([0, 1, 2]);
  expect(batches.at(-1)?.id).toBe(2);
  expect(host.timers.waiting(5000)).toBe(0);
});

test('the id of a batch is that of the last event in it, not of one that the mode hides', async () => {
  const host = await withRun(node('node.completed'), row('log.appended'), row('run.completed'));
  const [batch] = await streamed(host, '?bufferMs=50');
  expect([batch?.id, idsIn(batch)]).toEqual([3, [0, 1, 3]]);
  const [messages] = await streamed(
    await withRun(chunk('x'), row('run.completed')),
    '?streamMode=messages&bufferMs=50',
  );
  expect([messages?.id, idsIn(messages)]).toEqual([1, [1]]);
});

test('states are batched as events are', async () => {
  const host = await withRun(...history);
  const batches = await streamed(host, '?streamMode=values&bufferMs=5000');
  expect(batches.map(({ event }) => event)).toEqual(['batch']);
  expect([idsIn(batches[0]), batches[0]?.id]).toEqual([[0, 1, 7, 8], 8]);
});

test('nothing is batched without a buffer', async () => {
  const host = await withRun(...history);
  expect(shown(await streamed(host, '?bufferMs=0')).join()).not.toContain('batch');
});

test('what is held back goes out when the host stops', async () => {
  const host = await withRun(node('node.completed'));
  const reader = await open(host, `${path}?bufferMs=5000`);
  while (host.timers.waiting(5000) === 0) await new Promise((resolve) => setImmediate(resolve));
  const [batches] = await Promise.all([reader.end(), host.stop()]);
  expect(batches.flatMap((batch) => idsIn(batch))).toEqual([0, 1]);
});

test('a stream that only hides what happens still ends with the run', async () => {
  const host = await withRun();
  const reader = await open(host, `${path}?streamMode=messages`);
  await write(host, node('node.started'), resolved('i'));
  await write(host, row('run.cancelled'));
  expect(await reader.end()).toEqual([]);
});

test('a client of HTTP/1.0, which knows no chunks, gets plain frames', async () => {
  const host = await withRun();
  const socket = connect(host.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.write(
    `GET ${path} HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${keys.alice}\r\n\r\n`,
  );
  while (!text.includes('id: 0')) await once(socket, 'data');
  await write(host, node('node.completed'));
  await write(host, row('run.completed'));
  await once(socket, 'end');
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  expect(body).not.toContain('\r');
  expect(shown(messagesOf(body))).toEqual(['0 run.started', '1 node.completed', '2 run.completed']);
});

test('what was set for every answer goes out with a stream too', async () => {
  const host = await withRun(row('run.completed'));
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { accept: 'text/event-stream', traceparent };
  const reply = await host.ask('GET', path, { headers });
  expect(reply.headers.get('traceparent')).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
});
