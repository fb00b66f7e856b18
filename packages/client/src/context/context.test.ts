import type { IncomingMessage } from 'node:http';
import type { Json } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { collect, eagerTimers, listen } from '../scripted-host.kit.ts';
import { type ConversationClient, createClient } from './index.ts';
import { notice, servingContext, talkOf, taskFrame } from './scripted-context.kit.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

type Reply = (asked: Asked) => { readonly status?: number; readonly body: Json };

/** A host of JSON routes; its streams have one task. */
async function against(reply: Reply): Promise<{ readonly client: ConversationClient; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const host = await listen(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers, body: text === '' ? null : JSON.parse(text) });
    if (url.includes('/stream')) {
      servingContext(talkOf(2))(request, response);
      return;
    }
    const { status = 202, body } = reply(asked.at(-1) as Asked);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  onTestFinished(() => host.close());
  return { client: createClient({ url: host.url, key: 'k', timers: eagerTimers }), asked };
}

const accepted: Reply = () => ({ body: { contextId: 'ctx_a', taskId: 'task_a', cursor: 1 } });

test('a message without a reader is sent once, and a reader gets its task until the end', async () => {
  const { client, asked } = await against(accepted);
  const context = client.context();
  expect(context.id).toBeNull();
  expect(await context.send('Hello?', { agentId: 'host:desk', ifBusy: 'reject' })).toMatchObject({ taskId: 'task_a' });
  expect(context.id).toBe('ctx_a');
  expect(asked).toMatchObject([
    {
      method: 'POST',
      url: '/api/messages?ifBusy=reject',
      headers: { prefer: 'respond-async', 'idempotency-key': expect.any(String) },
      body: { message: { role: 'user', content: 'Hello?' }, agentId: 'host:desk' },
    },
  ]);
  expect(await collect(context.send('Again.'))).toEqual(talkOf(2));
  expect(asked.slice(1).map(({ url }) => url)).toEqual([
    '/api/contexts/ctx_a/messages',
    '/api/contexts/ctx_a/stream?after=0&taskId=task_a&subtree=1',
  ]);
});

test('messages that are sent before a new context has an id go to the same one', async () => {
  let refusals = 1;
  const { client, asked } = await against((one) => {
    refusals -= 1;
    return refusals === 0 ? { status: 400, body: { error: 'validation_error', message: 'no' } } : accepted(one);
  });
  const context = client.context();
  const sent = await Promise.allSettled([context.send('a'), context.send('b'), context.send('c')]);
  expect(sent.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(asked.map(({ url }) => url)).toEqual(['/api/messages', '/api/messages', '/api/contexts/ctx_a/messages']);
});

test('a new context says that it has no id yet', async () => {
  const context = createClient({ url: 'http://127.0.0.1:1', key: 'k' }).context();
  const calls = [context.tasks(), context.answer('i', 1), context.artifacts.list(), collect(context.follow())];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'validation_error' });
});

test('a task that waits ends the events of a message that asked for that', async () => {
  const [created, working] = talkOf(0);
  const waits = { ...working, cursor: 3, status: 'waiting-input' };
  const host = await listen((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end(JSON.stringify(accepted({ method: '', url: '', headers: {}, body: null }).body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const below = { ...waits, taskId: 'task_below', cursor: 2 };
    for (const event of [created, below, waits]) response.write(taskFrame(event as never));
  });
  onTestFinished(() => host.close());
  const context = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a');
  const seen = await collect(context.send('Hello?', { closeOn: 'waiting' }));
  expect(seen.map(({ cursor }) => cursor)).toEqual([1, 2, 3]);
});

test('a task that waits before it says for what ends them after its question', async () => {
  const [created, working] = talkOf(0);
  const pending = [{ type: 'input', id: 'i' }];
  const waits = { ...working, cursor: 2, status: 'waiting-input', metadata: { pending } };
  const asked = { ...created, kind: 'input-required', cursor: 3, inputId: 'i', inputType: 'custom', prompt: 'So?' };
  const host = await listen((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end(JSON.stringify(accepted({ method: '', url: '', headers: {}, body: null }).body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [created, waits, asked]) response.write(taskFrame(event as never));
  });
  onTestFinished(() => host.close());
  const context = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a');
  const seen = await collect(context.send('Hello?', { closeOn: 'waiting' }));
  expect(seen.map(({ kind }) => kind)).toEqual(['task-created', 'task-status', 'input-required']);
});

test('the events of a message end with an error when the log was restored from before them', async () => {
  const host = await listen((request, response) => {
    if (request.method === 'POST') {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ contextId: 'ctx_a', taskId: 'task_a', cursor: 9 }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(notice('reset', { reason: 'cursor-ahead', oldest: 1, head: 2 }));
  });
  onTestFinished(() => host.close());
  const context = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a');
  await expect(collect(context.send('Hello?'))).rejects.toMatchObject({ code: 'conflict' });
});

test('each call goes to its route, and a token to those that read', async () => {
  const { client, asked } = await against(() => ({ body: {} }));
  const context = client.context('ctx/a', { token: 't' });
  await context.answer('in 1', { ok: true });
  await context.reject('in 1', 'not now');
  await context.cancel('task_a', 'enough');
  await context.tasks({ limit: 2 });
  await context.task('task_a');
  await context.events({ after: 7, limit: 3, kinds: ['error'] });
  await context.artifacts.list({ after: 'a', limit: 1 });
  expect(asked.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', '/api/contexts/ctx%2Fa/inputs/in%201', { value: { ok: true } }],
    ['POST', '/api/contexts/ctx%2Fa/inputs/in%201', { reject: true, reason: 'not now' }],
    ['POST', '/api/contexts/ctx%2Fa/tasks/task_a/cancel', { reason: 'enough' }],
    ['GET', '/api/contexts/ctx%2Fa/tasks?limit=2&token=t', null],
    ['GET', '/api/contexts/ctx%2Fa/tasks/task_a?token=t', null],
    ['GET', '/api/contexts/ctx%2Fa/events?after=7&limit=3&kinds=error&token=t', null],
    ['GET', '/api/contexts/ctx%2Fa/artifacts?after=a&limit=1&token=t', null],
  ]);
});

test('an update of an artifact waits for its first version, and merges with it', async () => {
  let reads = 0;
  const host = await listen((request, response) => {
    const isRead = request.method === 'GET';
    if (isRead) reads += 1;
    const isOpen = isRead && reads < 3;
    response.writeHead(isOpen ? 404 : 200, { 'content-type': 'application/json', ...(!isOpen && { etag: '"1"' }) });
    const refusal = { error: 'not_found', message: 'Being written.', details: { open: true } };
    response.end(JSON.stringify(isOpen ? refusal : { data: { n: 1 }, ifMatch: request.headers['if-match'] }));
  });
  onTestFinished(() => host.close());
  const { artifacts } = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a');
  let edits = 0;
  const saved = await artifacts.update('totals', async (current) => {
    edits += 1;
    return { data: { was: current?.version ?? null } };
  });
  expect([reads, edits, saved]).toMatchObject([3, 1, { ifMatch: '"1"' }]);
});

test('a token that ends is renewed for the next connection and the next call', async () => {
  const events = talkOf(3);
  const given: (string | null)[] = [];
  const host = await listen((request, response) => {
    const token = new URL(request.url ?? '', 'http://host').searchParams.get('token');
    given.push(token);
    if (token === 'token-1') {
      // The host ends a stream whose token has expired.
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.slice(0, 2).map(taskFrame).join('') + notice('closing', { reason: 'draining' }));
      return;
    }
    if (request.url?.includes('/stream')) servingContext(events)(request, response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  onTestFinished(() => host.close());
  let minted = 0;
  const token = async () => {
    minted += 1;
    return `token-${minted}`;
  };
  const context = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a', { token });
  const seen: number[] = [];
  for await (const event of context.follow({ after: 0 })) {
    if (event.kind === 'stream:caught-up') break;
    seen.push(Number('cursor' in event && event.cursor));
  }
  expect(seen).toEqual(events.map(({ cursor }) => cursor));
  await context.tasks();
  await context.artifacts.list();
  expect(given).toEqual(['token-1', 'token-2', 'token-3', 'token-4']);
});

test('an artifact is asked for again when the host was busy, and read as what it is', async () => {
  let asks = 0;
  const host = await listen((_request, response) => {
    asks += 1;
    if (asks === 1) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/markdown', etag: '"3"' });
    response.end('# Zürich');
  });
  onTestFinished(() => host.close());
  const { artifacts } = createClient({ url: host.url, timers: eagerTimers }).context('ctx_a');
  const report = await artifacts.read('report.md', { version: 3 });
  expect([report.version, report.mimeType, await report.text(), asks]).toEqual([3, 'text/markdown', '# Zürich', 2]);
  const bytes = await (await artifacts.read('report.md')).bytes();
  expect(new TextDecoder().decode(bytes)).toBe('# Zürich');
});
