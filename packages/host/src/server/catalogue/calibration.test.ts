/** Calibration over HTTP: what the log of the tenant says, read on from one request to the next. */
import type { JsonObject, RunId } from '@cairn/protocol';
import { expect, test, vi } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { creation, row } from '../../log/ports/samples.kit.ts';
import type { Store } from '../../log/ports/store.ts';
import { keys, served } from '../served.kit.ts';
import { CalibrationReader } from './calibration.ts';

const agentId = 'core.some.agent';
const payload = (body: JsonObject) => ({ payload: JSON.stringify(body) });
const decided = (confidence: number) => row('agent.decided', payload({ agentId, decision: 'x', confidence }));
const asked = row(
  'interrupt.requested',
  payload({ interruptId: 'i1', kind: 'low-confidence', key: 'k', data: { agentId, threshold: 0.7, observed: 0.4 } }),
);
const approved = row('interrupt.resolved', payload({ interruptId: 'i1', resumeValue: { action: 'approve' } }));

async function runOf(store: Store, tenant: string, runId: string): Promise<RunId> {
  const created = creation(runId as RunId);
  await store.log.append({ ...created, create: { ...created.create, tenant } as never });
  return runId as RunId;
}

test('gives what is in the log of the tenant, and what came since', async () => {
  const host = await served();
  const runId = await runOf(host.store, 't', 'run_mine');
  const ask = async (key?: string) => (await host.ask('GET', '/v1/host/cairn/calibration', key ? { key } : {})).body;
  expect(await ask()).toEqual({ agents: [], complete: true });
  await host.store.log.append({ runId, rows: [decided(0.4), asked, decided(0.9)] });
  expect(await ask()).toMatchObject({ agents: [{ agentId, stated: 2, held: 1, approved: 0 }], complete: true });
  await host.store.log.append({ runId, rows: [approved] });
  const held = { from: 0.4, to: 0.5, stated: 1, held: 1, approved: 1, edited: 0, rejected: 0, expired: 0 };
  expect(await ask()).toMatchObject({ agents: [{ approved: 1, buckets: [held, { from: 0.9, to: 1 }] }] });
  expect(await ask(keys.stranger)).toEqual({ agents: [], complete: true });
});

test('those who ask at the same time share one reading, and nobody counts a row twice', async () => {
  const store = inMemoryStore();
  const runId = await runOf(store, 't', 'run_mine');
  await store.log.append({ runId, rows: [decided(0.4), decided(0.5)] });
  const read = vi.fn(store.changes.read);
  const reader = new CalibrationReader({ read });
  const answers = await Promise.all([reader.read('t'), reader.read('t'), reader.read('t')]);
  for (const { agents } of answers) expect(agents).toMatchObject([{ stated: 2 }]);
  expect(read.mock.calls.map(([range]) => range.after)).toEqual(['0', expect.any(String)]);
  await store.close();
});

test('one request looks at a bounded part of the log, says so, and the next goes on', async () => {
  let position = 0;
  const read = vi.fn(async () => ({ rows: [], position: String(Math.min(++position, 150)) }));
  const reader = new CalibrationReader({ read });
  expect(await reader.read('t')).toEqual({ agents: [], complete: false });
  expect(read).toHaveBeenCalledTimes(100);
  expect(await reader.read('t')).toEqual({ agents: [], complete: true });
  expect(read).toHaveBeenCalledTimes(151);
});

test('a reading that fails is an error of its request, and the next one goes on', async () => {
  const read = vi.fn().mockRejectedValueOnce(new Error('the disk')).mockResolvedValue({ rows: [], position: '0' });
  const reader = new CalibrationReader({ read });
  await expect(reader.read('t')).rejects.toThrow('the disk');
  expect(await reader.read('t')).toEqual({ agents: [], complete: true });
});

test('only so many tenants are remembered', async () => {
  const read = vi.fn(async ({ after }: { after: string }) => ({ rows: [], position: after === '0' ? '1' : after }));
  const reader = new CalibrationReader({ read });
  for (let i = 0; i <= 256; i++) await reader.read(`t${i}`);
  read.mockClear();
  await reader.read('t256');
  expect(read).toHaveBeenCalledTimes(1);
  await reader.read('t0');
  expect(read.mock.calls.at(-2)?.[0].after).toBe('0');
});
