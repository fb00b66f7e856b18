/** An imported run on the wire: every way to look at it works, although this host knows none of its steps; no way to change it does. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import { asked, row, started } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import { keys, served } from '../served.kit.ts';

const runId = 'run_from-elsewhere' as RunId;

const nodeRow = (type: string, payload: object): NewRow =>
  row(type, { nodeId: 'gate', payload: JSON.stringify({ nodeId: 'gate', ...payload }) });

/** Long enough for its view to be worth keeping. */
const rows: readonly NewRow[] = [
  started(),
  nodeRow('node.started', { typeId: 'acme.steps.unknown-here', attempt: 0 }),
  ...Array.from({ length: 300 }, (_, i) => row('log.appended', { payload: `{"level":"info","message":"line ${i}"}` })),
  asked('i1'),
  nodeRow('node.suspended', { interruptId: 'i1' }),
];

/** The run as a store has it that took it over. */
async function withImported(): Promise<Store> {
  const contextId = 'ctx_elsewhere' as ContextId;
  const source = inMemoryStore();
  await source.log.append({ runId, rows, create: { tenant: 't', contextId, originRunId: runId } });
  const head = await source.log.head(runId);
  const store = inMemoryStore();
  const { seq = 0, hash = '' } = head ?? {};
  await store.log.importRun({ runId, tenant: 't', contextId, originRunId: runId, importedAt: 5_000, seq, hash }, rows);
  return store;
}

test('its snapshot is the fold of its rows, marked, and the same when it is read again', async () => {
  const { ask, store } = await served({ store: await withImported() });
  const first = await ask('GET', `/v1/runs/${runId}`);
  expect(first).toMatchObject({
    status: 200,
    body: {
      status: 'waiting-approval',
      importedAt: '1970-01-01T00:00:05.000Z',
      interrupt: { interruptId: 'i1' },
      nodeStates: { gate: { status: 'suspended', typeId: 'acme.steps.unknown-here' } },
    },
  });
  expect(await store.checkpoints.get(runId)).toMatchObject({ format: 'run-view/3', seq: rows.length - 1 });
  expect((await ask('GET', `/v1/runs/${runId}`)).body).toEqual(first.body);
  expect((await ask('GET', '/v1/runs')).body).toMatchObject({
    runs: [{ runId, importedAt: '1970-01-01T00:00:05.000Z' }],
  });
});

test.each([
  ['events', ''],
  ['events/poll', '?lastSequence=10&timeout=1'],
  ['interrupts', ''],
  ['debug-bundle', ''],
])('its %s can be read', async (path, query) => {
  const { ask } = await served({ store: await withImported() });
  expect((await ask('GET', `/v1/runs/${runId}/${path}${query}`, { key: keys.auditor })).status).toBe(200);
});

test.each([
  ['an answer', `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: 'accept' } }],
  ['a cancel', `/v1/runs/${runId}/cancel`, {}],
  ['a pause', `/v1/runs/${runId}:pause`, {}],
  ['a resume', `/v1/runs/${runId}:resume`, {}],
])('%s is refused by name and leaves it as it was', async (_name, path, body) => {
  const { ask, store } = await served({ store: await withImported() });
  const reply = await ask('POST', path, { body, key: keys.auditor });
  expect(reply).toMatchObject({ status: 409, body: { error: 'run_imported', details: { runId } } });
  expect(await store.log.head(runId)).toMatchObject({ seq: rows.length - 1 });
});

test('its questions are nobody’s to answer, so the inbox does not have them', async () => {
  const { ask } = await served({ store: await withImported() });
  expect((await ask('GET', '/v1/host/cairn/interrupts')).body).toMatchObject({ interrupts: [] });
});

test('to another tenant it looks unknown', async () => {
  const { ask } = await served({ store: await withImported() });
  expect((await ask('GET', `/v1/runs/${runId}`, { key: keys.stranger })).status).toBe(404);
  expect((await ask('POST', `/v1/runs/${runId}/cancel`, { key: keys.stranger, body: {} })).status).toBe(404);
});
