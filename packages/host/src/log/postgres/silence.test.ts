/** A node whose database falls silent: it appends once, and goes on when the database is there again. */
import type { RunId } from '@cairn/protocol';
import { expect, it, onTestFinished, vi } from 'vitest';
import { creation, row } from '../ports/samples.kit.ts';
import { connect } from './database.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { assemblePostgresStore, openPostgresStore } from './store.ts';
import { wayTo } from './way.kit.ts';

const DEADLINE_MS = 1_000;
const runId = 'run_a' as RunId;

async function opened(deadlineMs = DEADLINE_MS) {
  const way = await wayTo(await freshDatabase());
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const store = await openPostgresStore({ url: way.url, connections: 3, elapsedMs, deadlineMs, onFault });
  onTestFinished(() => store.close());
  await store.log.append(creation(runId));
  const types = async () =>
    (await store.log.read({ runId, after: -1, limit: 100 })).map(({ seq, type }) => `${seq} ${type}`);
  return { ...way, store, types, faults };
}

it.each([
  ['the requests', ['requests']],
  ['the answers', ['answers']],
  ['both', ['requests', 'answers']],
] as const)('writes an append once when %s of its connections are lost without a word', async (_, lost) => {
  const { store, silence, types, faults } = await opened();
  await store.log.append({ runId, rows: [row('before')] });
  silence(...lost);
  const appended = await store.log.append({ runId, rows: [row('silent')] });
  expect(appended.seq).toBe(2);
  await store.log.append({ runId, rows: [row('after')] });
  expect(await types()).toEqual(['0 run.started', '1 before', '2 silent', '3 after']);
  // A look at other nodes may be among what was not answered.
  for (const fault of faults) expect(fault).toMatchObject({ code: 'ETIMEDOUT' });
});

it('refuses an append while nobody answers, and goes on once the database is there again', async () => {
  const { store, silence, hush, types } = await opened(500);
  silence('requests', 'answers');
  hush(true);
  await expect(store.log.append({ runId, rows: [row('refused')] })).rejects.toMatchObject({
    code: 'store_failed',
    retryable: true,
    message: expect.stringContaining('no answer within 0.5 s'),
  });
  hush(false);
  expect(await store.log.append({ runId, rows: [row('after')] })).toMatchObject({ seq: 1 });
  expect(await types()).toEqual(['0 run.started', '1 after']);
});

it('tells followers of rows that were written, although their append was refused because no answer came', async () => {
  const url = await freshDatabase();
  const [pool, listener] = [connect({ url, connections: 3 }), connect({ url, connections: 1 })];
  const closed = async () => void (await Promise.all([pool.end(), listener.end()]));
  const store = await assemblePostgresStore(pool, { listener, elapsedMs, closed, onFault: () => undefined });
  onTestFinished(() => store.close());
  await store.log.append(creation(runId));
  const told: string[] = [];
  store.log.follow(({ rows }) => told.push(...rows.map(({ seq, type }) => `${seq} ${type}`)));
  // Statements are executed, and their answers are lost.
  const lost = async (answer: Promise<unknown>) => {
    await answer;
    throw Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
  };
  const { statements } = pool;
  const [use, pair] = [statements.use.bind(statements), statements.pair.bind(statements)];
  const spies = [
    vi.spyOn(statements, 'use').mockImplementation((work, owner) => lost(use(work, owner))),
    vi.spyOn(statements, 'pair').mockImplementation((...given) => lost(pair(...given))),
  ];
  await expect(store.log.append({ runId, rows: [row('unsure')] })).rejects.toMatchObject({ code: 'store_failed' });
  for (const spy of spies) spy.mockRestore();
  await expect.poll(() => told, { timeout: 10_000 }).toEqual(['1 unsure']);
  await store.log.append({ runId, rows: [row('after')] });
  expect(told).toEqual(['1 unsure', '2 after']);
}, 60_000);
