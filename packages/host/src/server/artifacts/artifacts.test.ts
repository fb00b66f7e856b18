/** Artifacts that tools write on a whole host: as events, as task faces, over HTTP, across questions and versions. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { openReadOnly, type ReadOnlyLog } from '../../log/sqlite/folder/read-only.ts';
import { DESK_SECRET, Desk, type DeskWork, deskKeys } from './desk.kit.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.open();
});
afterAll(() => desk[Symbol.asyncDispose]());

const client = () => desk.client();

function ran(does: DeskWork, { contextId, reasoning }: { contextId?: string; reasoning?: string } = {}) {
  return desk.ran(does, {
    ...(contextId !== undefined && { 'cairn.contextId': contextId }),
    ...(reasoning !== undefined && { reasoningVerbosity: reasoning }),
  });
}

const get = (
  contextId: string,
  path = '',
  { as = deskKeys.ann, headers = {} }: { as?: string; headers?: object } = {},
) =>
  fetch(`${desk.url}/api/contexts/${contextId}/artifacts${path}`, {
    headers: { authorization: `Bearer ${as}`, ...headers },
  });

/** Reads the data folder beside the host. */
function inFolder<Result>(read: (log: ReadOnlyLog) => Result): Result {
  const log = openReadOnly(desk.data);
  try {
    return read(log);
  } finally {
    log.close();
  }
}

const faces = async (runId: string): Promise<readonly JsonObject[]> =>
  inFolder((log) => {
    const run = log.run(runId);
    const rows = run === null ? [] : [...log.rows(run)];
    return rows.flatMap(({ task }) => (task === null ? [] : [JSON.parse(task) as JsonObject]));
  });

function blobBytes(): number {
  using db = new DatabaseSync(join(desk.data, 'cairn.db'), { readOnly: true });
  return Number(db.prepare("SELECT bytes FROM blob_usage WHERE tenant = 't'").get()?.bytes);
}

const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

test('a file is recorded piece by piece, switches when it is closed, and is served as a download', async () => {
  const { contextId, runId, result } = await ran(async ({ file }) => {
    const report = file('report.md', { description: 'The report' });
    await report.write('# Zürich\n');
    await report.write('<script>alert(1)</script>');
    return { ...(await report.close()) };
  });
  expect(result).toMatchObject({ status: 'ok', outcome: { artifactId: 'report.md', version: 1 } });
  const text = '# Zürich\n<script>alert(1)</script>';
  const answer = await get(contextId, '/report.md');
  expect([answer.status, await answer.text()]).toEqual([200, text]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    etag: '"1"',
    'content-type': 'text/markdown',
    'content-disposition': "attachment; filename*=UTF-8''report.md",
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
  });
  const shown = (await faces(runId)).filter(({ kind }) => kind === 'file-write');
  expect(shown).toMatchObject([
    {
      artifactId: 'report.md',
      index: 0,
      complete: false,
      data: '# Zürich\n',
      name: 'report.md',
      description: 'The report',
      mimeType: 'text/markdown',
      encoding: 'utf-8',
      metadata: { version: 1 },
    },
    { index: 1, complete: false },
    { index: 2, complete: true, data: '', metadata: { sha256: sha256(text) } },
  ]);
  expect(shown[1]).not.toHaveProperty('name');
  expect(await (await get(contextId)).json()).toMatchObject({
    artifacts: [{ artifactId: 'report.md', family: 'file', version: 1, open: false, taskId: runId, size: 35 }],
    next: null,
  });
});

test('a file beyond the log goes into blobs, the same bytes again cost little, and a range reads a part', async () => {
  const bytes = Buffer.alloc(900_001);
  // Text that repeats would share its blobs with itself.
  for (let i = 0; i < bytes.length; i += 4)
    bytes.writeUInt32LE((i * 2_654_435_761) % 4_294_967_296, Math.min(i, bytes.length - 4));
  const does: DeskWork = async ({ file }) => {
    const dump = file('dump.bin');
    for (let at = 0; at < bytes.length; at += 100_000) await dump.write(bytes.subarray(at, at + 100_000));
    return { ...(await dump.close()) };
  };
  const { contextId, runId } = await ran(does);
  const whole = Buffer.from(await (await get(contextId, '/dump.bin')).arrayBuffer());
  expect(sha256(whole)).toBe(sha256(bytes));
  const part = await get(contextId, '/dump.bin', { headers: { range: 'bytes=262000-700000' } });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 262000-700000/900001']);
  // A client that began with another version gets the whole of this one.
  const from = async (ifRange: string) =>
    (await get(contextId, '/dump.bin', { headers: { range: 'bytes=262000-', 'if-range': ifRange } })).status;
  expect([
    await from('"1"'),
    await from('"2"'),
    await from('W/"1"'),
    await from('Thu, 01 Jan 2026 00:00:00 GMT'),
  ]).toEqual([206, 200, 200, 200]);
  const head = await fetch(`${desk.url}/api/contexts/${contextId}/artifacts/dump.bin`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${deskKeys.ann}`, range: 'bytes=0-1' },
  });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '900001']);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(262_000, 700_001))).toBe(true);
  const kept = blobBytes();
  expect(kept).toBeGreaterThan(500_000);
  const again = await ran(does, { contextId });
  expect(again.result).toMatchObject({ outcome: { version: 2 } });
  expect(blobBytes()).toBe(kept);
  // A download that began with another version gets all of this one.
  for (const [tag, status] of [
    ['"1"', 206],
    ['"2"', 200],
    ['W/"1"', 200],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 200],
  ] as const) {
    const rest = await get(contextId, '/dump.bin?version=1', { headers: { range: 'bytes=900000-', 'if-range': tag } });
    expect([tag, rest.status, (await rest.arrayBuffer()).byteLength]).toEqual([
      tag,
      status,
      status === 206 ? 1 : 900_001,
    ]);
  }
  expect((await get(contextId, '/dump.bin?version=1', { headers: { 'if-none-match': '"1"' } })).status).toBe(304);
  const chunks = (await faces(runId)).filter(({ kind }) => kind === 'file-write');
  expect(chunks.some(({ metadata }) => (metadata as JsonObject).blob !== undefined)).toBe(true);
  expect(chunks.map(({ index }) => index)).toEqual(chunks.map((_, i) => i));
});

test('records and datasets have versions, and a batch that breaks the schema fails the call', async () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
  const { contextId, runId } = await ran(async ({ data: record, dataset }) => {
    await record('totals', { sum: 1 });
    await record('totals', { sum: 2 }, { expectedVersion: 1 });
    const people = dataset('people', { schema });
    await people.write([{ id: 1 }, { id: 2 }]);
    await people.write([{ id: 3 }]);
    return { ...(await people.close()) };
  });
  expect(await (await get(contextId, '/totals')).json()).toEqual({ data: { sum: 2 } });
  expect(await (await get(contextId, '/totals?version=1')).json()).toEqual({ data: { sum: 1 } });
  expect(await (await get(contextId, '/people')).json()).toEqual({ schema, rows: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  const shown = await faces(runId);
  expect(shown.filter(({ kind }) => kind === 'data-write')).toMatchObject([
    { data: { sum: 1 }, metadata: { version: 1 } },
    { data: { sum: 2 }, metadata: { version: 2 } },
  ]);
  expect(shown.filter(({ kind }) => kind === 'dataset-write')).toMatchObject([
    { index: 0, schema, rows: [{ id: 1 }, { id: 2 }] },
    { index: 1 },
    { index: 2, complete: true, rows: [] },
  ]);
  const stale = await ran(
    async ({ data: record }) => ({ ...(await record('totals', { sum: 3 }, { expectedVersion: 1 })) }),
    { contextId },
  );
  expect(stale.result).toMatchObject({ error: { code: 'artifact_version_conflict' } });
  const wrong = await ran(
    async ({ dataset }) => {
      await dataset('people', { schema }).write([{ id: 'x' }]);
      return null;
    },
    { contextId },
  );
  expect(wrong.result).toMatchObject({ error: { message: expect.stringContaining('Row 0') } });
  expect((await get(contextId, '/people')).headers.get('etag')).toBe('"1"');
});

test('a file that is not closed fails the call, never becomes current, and lets the next call write', async () => {
  const first = await ran(async ({ file }) => {
    await file('open.txt').write('half');
    return null;
  });
  expect(first.result).toMatchObject({ error: { message: expect.stringContaining('before it closed "open.txt"') } });
  expect((await get(first.contextId, '/open.txt')).status).toBe(404);
  expect(await (await get(first.contextId)).json()).toMatchObject({ artifacts: [] });
  const second = await ran(
    async ({ file }) => {
      const text = file('open.txt');
      await text.write('whole');
      return { ...(await text.close()) };
    },
    { contextId: first.contextId },
  );
  expect(second.result).toMatchObject({ outcome: { version: 2 } });
  expect(await (await get(first.contextId, '/open.txt')).text()).toBe('whole');
});

const questionId = (data: unknown): string =>
  (data as { readonly questions: readonly { readonly id: string }[] }).questions[0]?.id ?? '';

test('a call that asks a person writes nothing twice when it goes on', async () => {
  desk.work = async ({ file, data: record, think, ask }) => {
    const notes = file('notes.txt');
    // No secret begins with a line break, so nothing of it is held back.
    await notes.write('before\n');
    const ref = await notes.close();
    await record('facts', { seen: 1 });
    await think('Ask first.', { type: 'planning' });
    const yes = await ask({ prompt: 'Go on?', schema: { type: 'boolean' } });
    return { ...ref, yes };
  };
  const { runId } = await client().runs.create({ agentId: 'host:desk', inputs: { message: 'Go.' } });
  for await (const { type } of client().follow(runId)) if (type === 'interrupt.requested') break;
  const [asked] = await client().interrupts.ofRun(runId);
  await client().runs.answer(runId, 'agent', { answers: { [questionId(present(asked).data)]: true } });
  const { rows, result } = await desk.ended(runId);
  expect(result).toMatchObject({ outcome: { artifactId: 'notes.txt', version: 1, yes: true } });
  const count = (type: string) => rows.filter((row) => row.type === type).length;
  expect([count('cairn.artifact.chunk'), count('artifact.created')]).toEqual([2, 2]);
  expect((await faces(runId)).filter(({ thoughtType }) => thoughtType === 'planning')).toHaveLength(1);
});

test('thoughts of other types count as reasoning; a level that nobody knows fails the call', async () => {
  const { runId, result } = await ran(async ({ think }) => {
    await think('a', { type: 'analysis' });
    await think('b', { type: 'thinking' });
    await think('c', { type: 'strategizing' as never });
    await think('How loud?', { verbosity: 'loud' as never });
    return null;
  });
  expect(result).toMatchObject({ error: { code: 'tool_failed', message: expect.stringContaining('brief, normal') } });
  const reasoning = (await faces(runId)).filter(({ thoughtType }) => thoughtType === 'reasoning');
  expect(reasoning.map(({ content }) => content)).toEqual(['a', 'b', 'c']);
});

test('thoughts carry their type and what belongs to it, as far as the run asks for them', async () => {
  const does: DeskWork = async ({ think }) => {
    await think('First the index.', { type: 'planning', verbosity: 'brief' });
    await think('Or the log?', { type: 'strategy', verbosity: 'detailed', confidence: 0.4, alternatives: ['index'] });
    return null;
  };
  const thoughts = async (reasoning: string) =>
    (await faces((await ran(does, { reasoning })).runId)).filter(
      ({ kind, thoughtType }) => kind === 'thought-stream' && thoughtType !== 'decision',
    );
  expect(await thoughts('full')).toMatchObject([
    { thoughtType: 'planning', verbosity: 'brief', content: 'First the index.' },
    { thoughtType: 'strategy', verbosity: 'detailed', metadata: { confidence: 0.4, alternatives: ['index'] } },
  ]);
  expect(await thoughts('summary')).toMatchObject([{ thoughtType: 'planning' }]);
  expect(await thoughts('off')).toEqual([]);
});

test('a secret never reaches an artifact, whole or split over two writes', async () => {
  const { contextId, runId } = await ran(async ({ file, secret }) => {
    const text = file('leak.txt');
    await text.write(`key ${secret('crm').slice(0, 9)}`);
    await text.write(`${secret('crm').slice(9)} end`);
    await text.close();
    const bytes = file('leak.bin');
    await bytes.write(Buffer.from(`key ${secret('crm').slice(0, 9)}`));
    await bytes.write(Buffer.from(`${secret('crm').slice(9)} end`));
    await bytes.close();
    return null;
  });
  for (const name of ['leak.txt', 'leak.bin']) {
    const text = await (await get(contextId, `/${name}`)).text();
    expect(text).toMatch(/^key .* end$/);
    expect(text).not.toContain(DESK_SECRET);
  }
  expect(JSON.stringify(await faces(runId))).not.toContain(DESK_SECRET);
});

test('a secret is kept neither in the name of a version nor where a thought is cut', async () => {
  const { contextId, result, rows } = await ran(async ({ file, data: record, secret, think }) => {
    const text = file(`${secret('crm')}.txt`);
    await text.write('text');
    const { artifactId } = await text.close();
    const ofRecord = await record(`of ${secret('crm')}`, { a: 1 });
    const long = 'y'.repeat(2_000 - 15);
    await think('A thought.', { alternatives: [long + secret('crm')], relatedTo: 'z'.repeat(190) + secret('crm') });
    return [artifactId, ofRecord.artifactId];
  });
  expect(result.outcome).toEqual(['[REDACTED].txt', 'of [REDACTED]']);
  expect(await (await get(contextId, '/[REDACTED].txt')).text()).toBe('text');
  // Not even the part of it before the cut.
  expect(JSON.stringify(rows)).not.toContain(DESK_SECRET.slice(0, 8));
  const kept = readdirSync(desk.data).map((name) => readFileSync(join(desk.data, name), 'latin1'));
  expect(kept.join()).not.toContain(DESK_SECRET);
});

test('another tenant’s context, an unknown one and an unknown artifact are 404; wrong parameters are 400', async () => {
  const { contextId } = await ran(async ({ data: record }) => ({ ...(await record('mine', { a: 1 })) }));
  const refused = async (...of: Parameters<typeof get>) => {
    const answer = await get(...of);
    return `${answer.status} ${((await answer.json()) as JsonObject).error}`;
  };
  const [notFound, wrong] = ['404 not_found', '400 validation_error'];
  expect(await refused(contextId, '/mine', { as: deskKeys.bob })).toBe(notFound);
  expect(await refused(contextId, '', { as: deskKeys.bob })).toBe(notFound);
  expect(await refused('ctx_nobody')).toBe(notFound);
  expect(await refused(contextId, '/other')).toBe(notFound);
  expect(await refused(contextId, '/mine?version=2')).toBe(notFound);
  expect(await refused(contextId, '/__proto__')).toBe(notFound);
  expect(await refused(contextId, '/mine?version=0')).toBe(wrong);
  expect(await refused(contextId, '?limit=x')).toBe(wrong);
});

test('a name that is no name, and a tenant at its quota, fail the call alone', async () => {
  const bad = await ran(async ({ file }) => {
    await file('../etc/passwd').write('x');
    return null;
  });
  expect(bad.result).toMatchObject({ error: { message: expect.stringContaining('cannot have the name') } });
  const full = await ran(async ({ file }) => {
    const huge = file('huge.bin');
    for (let i = 0; i < 40; i += 1) await huge.write(new Uint8Array(262_144).fill(i));
    return { ...(await huge.close()) };
  });
  expect(JSON.stringify(full.result)).toContain('quota_exceeded');
});

test('the client lists artifacts and reads each version, and says that a first one is still open', async () => {
  const isOpen = Promise.withResolvers<void>();
  const mayClose = Promise.withResolvers<void>();
  const first = await ran(async ({ file }) => {
    const report = file('client.md');
    await report.write('one');
    return { ...(await report.close()) };
  });
  const { artifacts } = client().context(first.contextId);
  const going = ran(
    async ({ file }) => {
      const report = file('client.md');
      await report.write('two');
      const draft = file('draft.md');
      await draft.write('...');
      isOpen.resolve();
      await mayClose.promise;
      await draft.close();
      return { ...(await report.close()) };
    },
    { contextId: first.contextId },
  );
  await isOpen.promise;
  expect((await artifacts.list()).artifacts).toMatchObject([
    { artifactId: 'client.md', version: 1, open: true },
    { artifactId: 'draft.md', version: 0, open: true },
  ]);
  await expect(artifacts.read('draft.md')).rejects.toMatchObject({ code: 'not_found', details: { open: true } });
  mayClose.resolve();
  await going;
  const newest = await artifacts.read('client.md');
  expect([newest.version, newest.mimeType, await newest.text()]).toEqual([2, 'text/markdown', 'two']);
  expect(await (await artifacts.read('client.md', { version: 1 })).text()).toBe('one');
});

test('what was written verifies, and the index follows from the events', async () => {
  await desk.host.close();
  const problems: string[] = [];
  inFolder((log) => {
    for (const { runId } of log.runs()) {
      const run = log.run(runId);
      if (run !== null) log.checks.run(run, log.rows(run), (_, message) => problems.push(message));
    }
    log.checks.folder(
      (_, message) => problems.push(message),
      () => undefined,
    );
  });
  expect(problems).toEqual([]);
  const store = await openSqliteStore({ folder: desk.data });
  expect(await store.runIndex.rebuild()).toMatchObject({ repaired: 0 });
  await store.close();
});
