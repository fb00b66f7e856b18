/** The hash chain of a run, checked over HTTP: whole, page by page, and damaged. */
import { chainChecked, type JsonObject, parseShape, type RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { askUrl } from '../ask.kit.ts';
import { createHostOver } from '../create-host.ts';

const KEY = 'auditor-key-0123456789-abcdefghijkl';
const noop = defineWorkflow({ id: 'noop', version: '1', nodes: { only: { type: 'core.noop' } } });

/** Reads rows as a damaged store would give them. */
function damaged(log: EventLog, damage: (row: Row) => Row | null): EventLog {
  const read: EventLog['read'] = async (range) => (await log.read(range)).flatMap((row) => damage(row) ?? []);
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'read') return read;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function ran() {
  const store = inMemoryStore();
  let damage: (row: Row) => Row | null = (row) => row;
  const host = await createHostOver(
    { ...store, log: damaged(store.log, (row) => damage(row)) },
    {
      report: () => undefined,
      workflows: [noop],
      config: { port: 0, keys: [{ key: KEY, tenant: 't', scopes: ['runs:create', 'runs:read', 'audit:read'] }] },
    },
  );
  onTestFinished(() => host.close());
  const ask = async (method: string, path: string, body?: JsonObject) =>
    (await askUrl(`${host.url}${path}`, method, { key: KEY, ...(body !== undefined && { body }) })).body;
  const runId = String((await ask('POST', '/v1/runs', { workflowId: 'noop' })).runId);
  await ask('GET', `/v1/runs/${runId}/events/poll?timeout=10&lastSequence=1000`);
  const check = (query = '') => ask('GET', `/v1/host/cairn/runs/${runId}/chain${query}`);
  const head = await store.log.head(runId as RunId);
  const breaks = (how: typeof damage) => {
    damage = how;
  };
  return { runId, check, breaks, last: head?.seq ?? 0, hash: head?.hash };
}

test('a run is whole, and its last hash is that of its head', async () => {
  const { runId, check, last, hash } = await ran();
  const found = parseShape(chainChecked, await check(), 'The answer');
  expect(found).toEqual({ runId, checked: last + 1, retired: 0, problems: [], hash, next: null });
});

test('a check goes on where another ended, and leads to the same hash', async () => {
  const { check, last, hash } = await ran();
  expect(await check('?after=1')).toMatchObject({ checked: last - 1, problems: [], hash, next: null });
  expect(await check('?after=100000')).toMatchObject({ checked: 0, problems: [], hash, next: null });
});

test('a changed event, a lost one and a missing end are named', async () => {
  const { check, breaks, last } = await ran();
  breaks((row) => (row.seq === 1 ? { ...row, payload: '{"forged":true}' } : row));
  expect((await check()).problems).toEqual([{ sequence: 1, message: expect.stringContaining('does not match') }]);
  breaks((row) => (row.seq === 1 ? { ...row, payload: '' } : row));
  expect((await check()).problems).toEqual([{ sequence: 1, message: expect.stringContaining('does not match') }]);
  breaks((row) => (row.seq === 1 ? null : row));
  expect((await check()).problems).toMatchObject([{ sequence: 2, message: 'event 1 is missing' }]);
  breaks((row) => (row.seq >= last ? null : row));
  expect(await check()).toMatchObject({ problems: [{ sequence: last }], next: null });
});
