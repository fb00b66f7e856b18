/** The files of agents on a whole host: artifacts of the conversation, in lists, forks and purges, and old folders. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client/context';
import type { ContextId, Json, JsonObject, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import { emptyStore } from '../../log/empty-store.kit.ts';
import { scopes } from '../access/auth.ts';
import { createHost } from '../create-host.ts';
import { runFolders } from '../runs/run-files.ts';
import { createArtifactFiles } from './artifact-files.ts';
import { createArtifactPort } from './artifact-port.ts';

const key = 'a-key-of-enough-characters';
const data = mkdtempSync(join(tmpdir(), 'cairn-run-files-'));
let host: Awaited<ReturnType<typeof createHost>>;

const call = (tool: string, input: Json) => ({ call: { tool: `openwop:fs.${tool}`, input } });
const agentOf = (id: string, calls: readonly ReturnType<typeof call>[]) =>
  defineAgent({
    id,
    persona: 'Writer',
    instructions: 'Write.',
    tools: ['openwop:fs.read', 'openwop:fs.write', 'openwop:fs.list'],
    rehearsal: { turns: [...calls.map((one) => [one]), [{ say: 'Done.' }]] } as never,
  });

beforeAll(async () => {
  host = await createHost({
    config: { port: 0, data, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }] },
    agents: [
      agentOf('host:writer', [
        call('write', { path: 'notes/plan.md', text: 'Grüße' }),
        call('write', { path: 'notes/plan.md', text: 'Grüße, again' }),
        call('write', { path: 'empty', text: '' }),
        call('list', {}),
      ]),
      agentOf('host:reader', [
        call('read', { path: 'notes/plan.md' }),
        call('list', { folder: 'notes' }),
        call('read', { path: 'nothing.md' }),
      ]),
    ],
    report: () => undefined,
  });
});

afterAll(async () => {
  await host.close();
  rmSync(data, { recursive: true, force: true });
});

const client = () => createClient({ url: host.url ?? '', key });

async function ran(agentId: string, contextId?: string) {
  const created = await client().runs.create({
    agentId,
    inputs: { message: 'Go.' },
    configurable: contextId === undefined ? {} : { 'cairn.contextId': contextId },
  });
  const rows: { type: string; sequence: number; payload: JsonObject }[] = [];
  for await (const { type, sequence, payload } of client().follow(created.runId))
    rows.push({ type, sequence, payload: payload as JsonObject });
  const results = rows.filter(({ type }) => type === 'agent.toolReturned').map(({ payload }) => payload);
  return { ...created, contextId: String(created.contextId), rows, results };
}

const text = async (contextId: string, id: string) =>
  (await client().context(contextId).artifacts.read(id)).text().catch(String);
const names = async (contextId: string) =>
  (await client().context(contextId).artifacts.list()).artifacts.map(({ artifactId, version }) => [
    artifactId,
    version,
  ]);

test('a file of an agent is an artifact of the conversation: listed, shown as it is written, and read by the next turn', async () => {
  const written = await ran('host:writer');
  const { contextId } = written;
  expect(written.results.map(({ outcome }) => outcome)).toEqual([
    { path: 'notes/plan.md', bytes: 7 },
    { path: 'notes/plan.md', bytes: 14 },
    { path: 'empty', bytes: 0 },
    {
      files: [
        { path: 'empty', bytes: 0 },
        { path: 'notes/plan.md', bytes: 14 },
      ],
    },
  ]);
  expect(await names(contextId)).toEqual([
    ['empty', 1],
    ['notes/plan.md', 2],
  ]);
  expect(await text(contextId, 'notes/plan.md')).toBe('Grüße, again');
  const url = `${host.url}/api/contexts/${contextId}/events?after=0&kinds=file-write`;
  const page = (await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).json()) as {
    events: JsonObject[];
  };
  // A piece may end before what could begin a secret: the next one brings it.
  const shown = page.events.filter(({ artifactId }) => artifactId === 'notes/plan.md').map(({ data: piece }) => piece);
  expect(shown.join('')).toBe('GrüßeGrüße, again');
  const next = await ran('host:reader', contextId);
  expect(next.results.map(({ outcome, error }) => outcome ?? error)).toMatchObject([
    { text: 'Grüße, again', bytes: 14, nextOffset: null },
    { files: [{ path: 'notes/plan.md', bytes: 14 }] },
    { message: expect.stringContaining('There is no file "nothing.md"') },
  ]);
  const elsewhere = await ran('host:reader');
  expect(elsewhere.results[0]?.status).not.toBe('ok');
  expect(elsewhere.results[1]).toMatchObject({ outcome: { files: [] } });
});

test('a fork has the files as of its cut, and a purge takes those of its run', async () => {
  const { runId, contextId, rows } = await ran('host:writer');
  const [, second] = rows.filter(({ type }) => type === 'agent.toolCalled');
  const fork = await client().runs.fork(runId, { mode: 'branch', fromSeq: Number(second?.sequence) });
  const branch = String((await client().runs.wait(fork.runId)).contextId ?? fork.contextId);
  expect(branch).not.toBe(contextId);
  expect(await names(branch)).toEqual([
    ['empty', 1],
    ['notes/plan.md', 2],
  ]);
  expect(await (await client().context(branch).artifacts.read('notes/plan.md', { version: 1 })).text()).toBe('Grüße');
  const copy = await client().runs.fork(runId, { mode: 'replay', fromSeq: 0 });
  await client().runs.wait(copy.runId);
  expect(await text(String(copy.contextId), 'notes/plan.md')).toBe('Grüße, again');
  for (const one of [copy.runId, fork.runId, runId]) await client().runs.delete(one);
  expect(await names(contextId).catch((error: { code?: string }) => error.code)).toEqual([]);
});

const where = { tenant: 't', contextId: 'ctx_1' as ContextId, runId: 'run_1' as RunId };

/** Files of a conversation in memory, beside a folder of an earlier version. */
async function files() {
  const store = await emptyStore();
  const folders = join(data, 'old');
  const artifacts = createArtifactPort({ store, now: () => 0, life: 'one', maxTenantBytes: 1e9 });
  const at = { ...where, nodeId: 'n', callId: 'c', agentId: 'a', redactor: null };
  await store.log.append({
    runId: where.runId,
    rows: [{ at: 0, type: 'run.started', audience: 'client', payload: '{}', task: null }],
    create: { tenant: 't', contextId: where.contextId, originRunId: where.runId },
  });
  const record = async (rows: readonly { type: string; payload: object }[]) => {
    const made = rows.map(({ type, payload }) => ({ type, payload: JSON.stringify(payload), at: 0, task: null }));
    await store.log.append({ runId: where.runId, rows: made.map((row) => ({ ...row, audience: 'client' })) });
  };
  const write = async (path: string, content: string) => {
    const open = artifacts.file({ ...at, record }, path, {});
    await open.write(content);
    await open.close();
  };
  const port = createArtifactFiles({ store, folders: runFolders(folders) });
  return {
    port,
    write,
    root: join(folders, where.runId, 'files'),
    record: () => artifacts.data({ ...at, record }, 'totals', { a: 1 }, {}),
  };
}

test('files in the folder of an earlier version can be read until they are written again', async () => {
  const { port, write, root, record } = await files();
  await record();
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'old.txt'), 'old');
  writeFileSync(join(root, 'binary'), Buffer.from([0x66, 0xff, 0x00]));
  expect(await port.read(where, 'old.txt', { offset: 0, maxBytes: 9 })).toEqual({
    text: 'old',
    bytes: 3,
    nextOffset: null,
  });
  await expect(port.read(where, 'binary', { offset: 0, maxBytes: 9 })).rejects.toThrow('is not UTF-8 text');
  await expect(port.read(where, 'totals', { offset: 0, maxBytes: 9 })).rejects.toThrow('is not a file but a record');
  await write('old.txt', 'newer');
  expect(await port.read(where, 'old.txt', { offset: 0, maxBytes: 9 })).toMatchObject({ text: 'newer' });
  expect(await port.list(where, '')).toEqual([
    { path: 'binary', bytes: 3 },
    { path: 'old.txt', bytes: 5 },
  ]);
});

test('a text of any alphabet is read whole in parts of any size', async () => {
  const { port, write } = await files();
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.integer({ min: 4, max: 9 }),
      async (given, size) => {
        await write('text', given);
        let got = '';
        for (let offset: number | null = 0; offset !== null; ) {
          const part: Awaited<ReturnType<typeof port.read>> = await port.read(where, 'text', {
            offset,
            maxBytes: size,
          });
          got += part.text;
          offset = part.nextOffset;
        }
        expect(got).toBe(given.toWellFormed());
      },
    ),
    { numRuns: 30 },
  );
});

test('an artifact is read with a token of its context, in parts, and not again by who has it', async () => {
  const { runId, contextId } = await ran('host:writer');
  const put = { method: 'PUT', body: 'one two three', headers: { authorization: `Bearer ${key}` } };
  await fetch(`${host.url}/api/contexts/${contextId}/artifacts/shared.txt`, put);
  const minted = await fetch(`${host.url}/v1/runs/${runId}/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ of: 'context' }),
  });
  const { token } = (await minted.json()) as { token: string };
  const at = `${host.url}/api/contexts/${contextId}/artifacts`;
  const read = (path: string, init: RequestInit = {}) => fetch(`${at}${path}?token=${token}`, init);
  expect([minted.status, (await read('')).status]).toEqual([201, 200]);
  const whole = await read('/shared.txt');
  expect([whole.headers.get('etag'), await whole.text()]).toEqual(['"1"', 'one two three']);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment/),
  });
  const part = await read('/shared.txt', { headers: { range: 'bytes=4-6' } });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 4-6/13', 'two']);
  const known = await read('/shared.txt', { headers: { 'if-none-match': '"1"' } });
  expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, '"1"', '']);
  const head = await read('/shared.txt', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '13', '']);
  const other = await fetch(`${host.url}/api/contexts/ctx_other/artifacts?token=${token}`);
  expect(other.status).toBe(404);
  const edit = await fetch(`${at}/shared.txt?token=${token}`, {
    method: 'PUT',
    body: 'x',
    headers: { 'if-match': '"1"' },
  });
  expect(edit.status).toBe(401);
});

test('the session cookie of a browser reads artifacts, and nothing does without it', async () => {
  const { contextId } = await ran('host:writer');
  const session = { method: 'POST', headers: { authorization: `Bearer ${key}` } };
  const opened = await fetch(`${host.url}/v1/host/cairn/session`, session);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const at = `${host.url}/api/contexts/${contextId}/artifacts`;
  const read = (path: string, headers: Record<string, string> = { cookie }) => fetch(`${at}${path}`, { headers });
  expect(await (await read('')).json()).toMatchObject({ artifacts: [{ artifactId: 'empty' }, {}] });
  expect(await (await read('/notes%2Fplan.md')).text()).toBe('Grüße, again');
  expect([(await read('', {})).status, (await read('/empty', {})).status]).toEqual([401, 401]);
});
