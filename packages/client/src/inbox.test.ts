import type { IncomingMessage } from 'node:http';
import type { InboxChange } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient } from './client.ts';
import { type Answer, eagerTimers, listen } from './scripted-host.kit.ts';

async function against(answer: Answer): Promise<Client> {
  const host = await listen(answer);
  onTestFinished(() => host.close());
  return createClient({ url: host.url, key: 'secret-key', timers: eagerTimers });
}

const frame = (id: string | null, change: object): string =>
  `${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(change)}\n\n`;

const snapshot = { type: 'snapshot', entries: [], complete: true };
const removed = (interruptId: string) => ({ type: 'removed', runId: 'run_a', interruptId, end: 'resolved' });

async function first(client: Client, count: number): Promise<readonly InboxChange[]> {
  const changes: InboxChange[] = [];
  for await (const change of client.inbox.watch()) if (changes.push(change) === count) break;
  return changes;
}

test('lists a page with what it is asked for', async () => {
  let url = '';
  const client = await against((request, response) => {
    url = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ entries: [], nextCursor: null }));
  });
  expect(await client.inbox.list({ limit: 5, cursor: 'x y' })).toEqual({ entries: [], nextCursor: null });
  expect(url).toBe('/v1/host/cairn/inbox?limit=5&cursor=x+y');
});

test('watches on over broken connections, after the last id that came with a change', async () => {
  const requests: IncomingMessage[] = [];
  const client = await against((request, response) => {
    requests.push(request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (requests.length === 1) response.end(frame('p1', snapshot) + frame(null, removed('a')));
    else if (requests.length === 2)
      response.write(frame(null, removed('a')) + frame('p2', removed('b')), () => response.destroy());
    else response.write(frame('p3', removed('c')));
  });
  const seen = await first(client, 5);
  expect(seen.map((change) => (change.type === 'removed' ? change.interruptId : change.type))).toEqual([
    'snapshot',
    'a',
    'a',
    'b',
    'c',
  ]);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'p1', 'p2']);
  expect(requests[0]?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer secret-key' });
});

test('ends with what the host refuses it for, and with a frame that is no change', async () => {
  const refused = await against((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'forbidden', message: 'no', details: {} }));
  });
  await expect(first(refused, 1)).rejects.toMatchObject({ code: 'forbidden' });
  for (const data of ['nonsense', '{"type":"other"}', 'null', '[]']) {
    const lying = await against((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${data}\n\n`);
    });
    await expect(first(lying, 1)).rejects.toMatchObject({ code: 'internal_error' });
  }
});

test('stops when it is told to', async () => {
  const client = await against((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frame('p1', snapshot));
  });
  const stop = new AbortController();
  const watching = (async () => {
    for await (const _ of client.inbox.watch({ signal: stop.signal })) stop.abort();
  })();
  await expect(watching).rejects.toMatchObject({ name: 'AbortError' });
});
