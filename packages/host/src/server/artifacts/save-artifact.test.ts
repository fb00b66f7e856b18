/** Edits of artifacts over HTTP: preconditions, tasks, uploads of any size, secrets, repeated requests. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESK_SECRET, Desk, deskKeys } from './desk.kit.ts';

let desk: Desk;
let contextId = '';

beforeAll(async () => {
  desk = await Desk.open();
  contextId = (await message()).contextId;
});
afterAll(() => desk[Symbol.asyncDispose]());

async function message(context?: string) {
  const response = await fetch(`${desk.url}/api/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${deskKeys.ann}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      message: { role: 'user', content: 'Go.' },
      ...(context !== undefined && { contextId: context }),
    }),
  });
  await response.text();
  return { contextId: String(response.headers.get('cairn-context-id')), status: response.status };
}

interface Sent {
  readonly as?: string;
  readonly type?: string;
  readonly match?: string;
  readonly none?: string;
  readonly idempotency?: string;
  readonly query?: string;
  readonly context?: string;
}

async function put(id: string, body: RequestInit['body'], sent: Sent = {}) {
  const { as = deskKeys.ann, type, match, none, idempotency, query = '', context = contextId } = sent;
  const headers = {
    authorization: `Bearer ${as}`,
    ...(type !== undefined && { 'content-type': type }),
    ...(match !== undefined && { 'if-match': match }),
    ...(none !== undefined && { 'if-none-match': none }),
    ...(idempotency !== undefined && { 'idempotency-key': idempotency }),
  };
  const url = `${desk.url}/api/contexts/${context}/artifacts/${encodeURIComponent(id)}${query}`;
  const init = { method: 'PUT', headers, body: body ?? null, duplex: 'half' } as RequestInit;
  const response = await fetch(url, init);
  return { status: response.status, etag: response.headers.get('etag'), body: (await response.json()) as JsonObject };
}

const get = (id: string, path = '', headers: object = {}, as: string = deskKeys.ann) =>
  fetch(`${desk.url}/api/contexts/${contextId}/artifacts/${encodeURIComponent(id)}${path}`, {
    headers: { authorization: `Bearer ${as}`, ...headers },
  });

async function events(query: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (let after = 0; ; ) {
    const url = `${desk.url}/api/contexts/${contextId}/events?after=${after}&${query}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${deskKeys.ann}` } });
    const page = (await response.json()) as { events: JsonObject[]; next: number | null };
    found.push(...page.events);
    if (page.events.length === 0) return found;
    after = Number(page.events.at(-1)?.cursor);
  }
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

test('an edit creates a file and is a short task of the host, which the user began', async () => {
  const text = '# Grüße\n';
  const made = await put('plan.md', text, { type: 'text/markdown; charset=utf-8' });
  expect(made).toMatchObject({ status: 201, etag: '"1"', body: { artifactId: 'plan.md', version: 1, contextId } });
  const shown = await events(`taskId=${String(made.body.taskId)}`);
  expect(shown.map(({ kind, status }) => [kind, status])).toEqual([
    ['task-created', undefined],
    ['task-status', 'working'],
    ['file-write', undefined],
    ['task-status', 'completed'],
    ['task-complete', undefined],
  ]);
  const [created, , write, , complete] = shown;
  expect(created).toMatchObject({ initiator: 'user', metadata: { agentId: 'core.system' } });
  expect(write).toMatchObject({
    artifactId: 'plan.md',
    agentId: 'core.system',
    data: text,
    index: 0,
    complete: true,
    metadata: { version: 1, sha256: sha256(text) },
  });
  expect(write?.metadata).not.toHaveProperty('toolCallId');
  expect(complete).toMatchObject({ artifacts: ['plan.md'] });
  const read = await get('plan.md');
  expect([await read.text(), read.headers.get('content-type')]).toEqual([text, 'text/markdown; charset=utf-8']);
  const again = await put('plan.md', Buffer.from('# Neu\n'), { match: '"1"' });
  expect(again).toMatchObject({ status: 200, etag: '"2"' });
  const kept = await get('plan.md', '?version=1');
  expect(await kept.text()).toBe(text);
  const current = await get('plan.md');
  // Without a Content-Type, an edit keeps that of the version before.
  expect([await current.text(), current.headers.get('content-type')]).toEqual([
    '# Neu\n',
    'text/markdown; charset=utf-8',
  ]);
});

test('an edit names the version that it changes, and loses against another one', async () => {
  await put('race.txt', 'one', { none: '*' });
  const current = { artifactId: 'race.txt', currentVersion: 1 };
  const conflict = { status: 412, body: { error: 'artifact_version_conflict', details: current } };
  expect(await put('race.txt', 'two')).toMatchObject({
    status: 428,
    body: { error: 'precondition_required', details: current },
  });
  for (const sent of [{ match: '"2"' }, { match: 'W/"1"' }, { none: '*' }]) {
    expect(await put('race.txt', 'two', sent)).toMatchObject(conflict);
  }
  expect(await put('new.txt', 'x', { match: '"1"' })).toMatchObject({
    status: 412,
    body: { details: { currentVersion: 0 } },
  });
  for (const sent of [{ match: 'one' }, { none: '"1"' }, { match: '"1"', none: '*' }]) {
    expect(await put('race.txt', 'two', sent)).toMatchObject({ status: 400 });
  }
  const both = await Promise.all([put('race.txt', 'a', { match: '"1"' }), put('race.txt', 'b', { match: '"1"' })]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(both.find(({ status }) => status === 412)?.body).toMatchObject({ error: 'artifact_version_conflict' });
  expect(await put('race.txt', 'c', { match: '"7", "2"' })).toMatchObject({ status: 200, etag: '"3"' });
  expect(await put('race.txt', 'd', { match: '*' })).toMatchObject({ status: 200, etag: '"4"' });
});

test('a version that a task has open keeps an edit away, and the task another one', async () => {
  const opened = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let refused = '';
  desk.work = async ({ file }) => {
    const report = file('open.md');
    await report.write('A line of the report that is long enough.\n'.repeat(9));
    opened.resolve();
    await goOn.promise;
    await report.close();
    await file('open.md', { expectedVersion: 7 })
      .close()
      .catch((error: Error & { code?: string }) => {
        refused = String(error.code);
      });
    return null;
  };
  const turn = message(contextId);
  await opened.promise;
  expect(await put('open.md', 'mine', { none: '*' })).toMatchObject({
    status: 412,
    body: { details: { currentVersion: 0, openVersion: 1 } },
  });
  // The edit of another artifact does not wait for the task.
  expect(await put('other.md', 'mine')).toMatchObject({ status: 201 });
  goOn.resolve();
  await turn;
  desk.work = async () => null;
  expect(refused).toBe('artifact_version_conflict');
  expect(await put('open.md', 'mine', { match: '"1"' })).toMatchObject({ status: 200, etag: '"2"' });
});

test('a message after an edit still goes to the agent of the context', async () => {
  await put('before.md', 'x');
  expect(await message(contextId)).toEqual({ contextId, status: 200 });
  const created = (await events('kinds=task-created')).at(-1);
  expect(created).toMatchObject({ metadata: { agentId: 'host:desk' } });
});

test('records and datasets are JSON, keep their family, and a dataset its schema', async () => {
  const json = 'application/json';
  expect(await put('totals', '{"data":{"sum":1}}', { type: json })).toMatchObject({ status: 201 });
  expect(await (await get('totals')).json()).toEqual({ data: { sum: 1 } });
  expect(await put('totals', '{"rows":[]}', { type: json, match: '"1"' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('is a record') },
  });
  const schema = { type: 'object', required: ['id'] };
  const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, text: 'x'.repeat(200) }));
  const set = await put('orders', JSON.stringify({ schema, rows }), { type: json });
  expect(set).toMatchObject({ status: 201, etag: '"1"' });
  expect(await (await get('orders')).json()).toEqual({ schema, rows });
  const written = await events(`taskId=${String(set.body.taskId)}&kinds=dataset-write`);
  expect(written.map(({ index }) => index)).toEqual(written.map((_, index) => index));
  expect(written.map(({ complete }) => complete)).toEqual(written.map((_, at) => at === written.length - 1));
  expect(written.length).toBeGreaterThan(4);
  expect(await put('orders', '{"schema":{"required":["id"]},"rows":[{}]}', { type: json, match: '"1"' })).toMatchObject(
    {
      status: 400,
      body: { message: expect.stringContaining('does not fit its schema') },
    },
  );
  // The refusal says how to write a file that is JSON.
  expect(await put('conf.json', '{"a":1}', { type: json })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('?family=file') },
  });
  expect(await put('conf.json', '{"a":1}', { type: json, query: '?family=file' })).toMatchObject({ status: 201 });
  expect(await (await get('conf.json')).json()).toEqual({ a: 1 });
  for (const [body, status] of [
    ['{"a":1}', 400],
    ['{"data":{', 400],
    ['', 400],
    ['{"data":{},"rows":[]}', 400],
  ] as const) {
    expect(await put(`bad-${randomUUID()}`, body, { type: json })).toMatchObject({ status });
  }
  const large = JSON.stringify({ data: { text: 'x'.repeat(130_000) } });
  expect(await put('large', large, { type: json })).toMatchObject({
    status: 413,
    body: { error: 'artifact_too_large' },
  });
});

test('a dataset of many small rows is written in batches, and one of too many is refused before they are read', async () => {
  const json = 'application/json';
  const rows = Array.from({ length: 12_000 }, (_, id) => ({ id }));
  expect(await put('numbers', JSON.stringify({ rows }), { type: json })).toMatchObject({ status: 201 });
  expect(await (await get('numbers')).json()).toEqual({ rows });
  const many = `{"rows":[${'{},'.repeat(50_000)}{}]}`;
  expect(await put('too-many', many, { type: json })).toMatchObject({
    status: 413,
    body: { error: 'artifact_too_large', details: { rows: 50_001, limit: 50_000 } },
  });
});

test('a large file is written piece by piece, as it came, and once for equal content', async () => {
  const bytes = Buffer.alloc(1_500_001, 'Größe mit Umlaut. ');
  const made = await put('dump.bin', bytes, { type: 'application/octet-stream' });
  expect(made).toMatchObject({ status: 201 });
  const read = Buffer.from(await (await get('dump.bin')).arrayBuffer());
  expect(sha256(read)).toBe(sha256(bytes));
  const pieces = await events(`taskId=${String(made.body.taskId)}&kinds=file-write`);
  expect(pieces[0]).toMatchObject({ mimeType: 'application/octet-stream', encoding: 'base64' });
  expect(pieces.map(({ index }) => index)).toEqual(pieces.map((_, index) => index));
  expect(pieces.at(-1)).toMatchObject({ complete: true, metadata: { sha256: sha256(bytes) } });
  // Plain joining of the base64 texts works, because every piece but the last has a multiple of 3 bytes.
  const inline = pieces.filter(({ data }) => data !== '').map(({ data }) => String(data));
  expect(inline.slice(0, -1).every((text) => !text.includes('='))).toBe(true);
  const text = await put('umlaut.txt', bytes, { type: 'text/plain' });
  expect(text.status).toBe(201);
  const texts = await events(`taskId=${String(text.body.taskId)}&kinds=file-write`);
  expect(texts[0]).toMatchObject({ encoding: 'utf-8' });
  expect(texts.every(({ data }) => !String(data).includes('\ufffd'))).toBe(true);
  expect(sha256(Buffer.from(await (await get('umlaut.txt')).arrayBuffer()))).toBe(sha256(bytes));
  const latin = Buffer.from('Gr\u00fc\u00dfe', 'latin1');
  expect(await put('l.txt', latin, { type: 'text/plain' })).toMatchObject({ status: 400 });
  expect(await put('l.txt', latin, { type: 'text/plain; charset=iso-8859-1' })).toMatchObject({ status: 201 });
  expect(Buffer.from(await (await get('l.txt')).arrayBuffer())).toEqual(latin);
});

test('an empty file and one with an odd name are artifacts, a name that climbs is not', async () => {
  expect(await put('notes/empty.txt', '')).toMatchObject({ status: 201 });
  expect(await (await get('notes/empty.txt')).text()).toBe('');
  expect(await put('../up', 'x')).toMatchObject({ status: 400 });
  expect(await put('x'.repeat(513), 'x')).toMatchObject({ status: 400 });
  expect(await put('odd', 'x', { type: 'no type' })).toMatchObject({ status: 415 });
  expect(await put('odd', 'x', { query: '?family=books' })).toMatchObject({ status: 400 });
});

test('a repeated request with its key is the same edit, and with another body a mismatch', async () => {
  const idempotency = randomUUID();
  const first = await put('once.txt', 'one', { idempotency });
  const second = await put('once.txt', 'one', { idempotency });
  expect(second).toEqual(first);
  expect(await put('once.txt', 'two', { idempotency })).toMatchObject({
    status: 409,
    body: { error: 'idempotency_key_mismatch' },
  });
  const edit = { idempotency: randomUUID(), match: '"1"' };
  const edited = await put('once.txt', 'two', edit);
  expect(edited).toMatchObject({ status: 200, etag: '"2"' });
  // The version has moved on, but the request was carried out.
  expect(await put('once.txt', 'two', edit)).toEqual(edited);
  expect(await (await get('once.txt')).text()).toBe('two');
});

test('a secret of the host is replaced in what a person writes, also across pieces', async () => {
  const text = `${'x'.repeat(49_150)}${DESK_SECRET} and more`;
  const made = await put('leak.txt', text, { type: 'text/plain' });
  expect(made.status).toBe(201);
  const read = await (await get('leak.txt')).text();
  expect(read).not.toContain(DESK_SECRET);
  expect(read).toContain('and more');
  const binary = await put('leak.bin', Buffer.from([0xff, ...Buffer.from(DESK_SECRET), 0xfe]));
  expect(binary.status).toBe(201);
  expect(Buffer.from(await (await get('leak.bin')).arrayBuffer()).toString('latin1')).not.toContain(DESK_SECRET);
  await put('leak', JSON.stringify({ data: { token: DESK_SECRET } }), { type: 'application/json' });
  expect(await (await get('leak')).text()).not.toContain(DESK_SECRET);
});

const kept = (): string =>
  readdirSync(desk.data)
    .map((name) => readFileSync(join(desk.data, name), 'latin1'))
    .join('\n');

test('a secret of the host is not kept on its way either: nowhere in the data folder', async () => {
  const json = { type: 'application/json' };
  const secret = { [`key ${DESK_SECRET}`]: `value ${DESK_SECRET}` };
  expect(await put('kept', JSON.stringify({ data: secret }), json)).toMatchObject({ status: 201 });
  const schema = { type: 'object', description: DESK_SECRET, additionalProperties: true };
  expect(await put('rows', JSON.stringify({ schema, rows: [secret] }), json)).toMatchObject({ status: 201 });
  expect(await (await get('rows')).text()).toContain('[REDACTED]');
  expect(kept()).toContain('value [REDACTED]');
  expect(kept()).not.toContain(DESK_SECRET);
});

test.each([
  ['the name of an artifact', `${DESK_SECRET}.txt`, { type: 'text/plain' }],
  ['its media type', 'typed.txt', { type: `text/plain; x=${DESK_SECRET}` }],
])('a secret of the host in %s is refused, because it would be kept as it is', async (_what, id, sent) => {
  const refused = await put(id, 'text', sent);
  expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  expect(JSON.stringify(refused.body)).not.toContain(DESK_SECRET);
  expect(kept()).not.toContain(DESK_SECRET);
});

test('only who may start runs in the context may edit, and another tenant sees nothing', async () => {
  expect(await put('plan.md', 'x', { as: deskKeys.reader, match: '"2"' })).toMatchObject({ status: 403 });
  expect(await put('plan.md', 'x', { as: deskKeys.bob, match: '"2"' })).toMatchObject({ status: 404 });
  expect(await put('plan.md', 'x', { context: 'ctx_none', match: '"2"' })).toMatchObject({ status: 404 });
  const refused = await desk.host.engine
    .register('t', {
      id: 'forged',
      name: 'Forged',
      version: '1',
      nodes: [{ id: 'n', typeId: 'cairn.artifact.edit', name: 'N', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
      edges: [],
      triggers: [],
      variables: [],
      metadata: {},
      settings: {},
    })
    .catch((error: Error) => error.message);
  expect(refused).toContain('only the host makes nodes of the type cairn.artifact.edit');
});

test('an upload beyond the quota is refused, and one that breaks off leaves no task and no version', async () => {
  const before = (await events('kinds=task-created')).length;
  expect(await put('huge.bin', randomBytes(9_000_000))).toMatchObject({
    status: 507,
    body: { error: 'quota_exceeded' },
  });
  const { port } = new URL(desk.url);
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `PUT /api/contexts/${contextId}/artifacts/broken.bin HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${deskKeys.ann}\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(1000)}`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  expect(await get('broken.bin')).toMatchObject({ status: 404 });
  expect(await get('huge.bin')).toMatchObject({ status: 404 });
  expect((await events('kinds=task-created')).length).toBe(before);
});
