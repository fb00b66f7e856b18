/** Nodes behind a transaction pooler: fewer sessions than they have connections, and none that is theirs. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { creation, row } from '../ports/samples.kit.ts';
import { connect, Database } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { startPooler } from './pooler.kit.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore, type PostgresStore } from './store.ts';

const SESSIONS = 3;

interface Field {
  readonly nodes: readonly [PostgresStore, PostgresStore];
  readonly used: () => number;
}

async function behindPooler({ listens }: { readonly listens: boolean }): Promise<Field> {
  const direct = await freshDatabase();
  const pooler = await startPooler(direct, SESSIONS);
  const node = () =>
    openPostgresStore({ url: pooler.url, ...(listens && { listenUrl: direct }), connections: 4, elapsedMs });
  const nodes = [await node(), await node()] as const;
  onTestFinished(async () => {
    for (const store of nodes) await store.close();
    await pooler[Symbol.asyncDispose]();
  });
  return { nodes, used: pooler.used };
}

const runOf = (n: number): RunId => `run_${n}` as RunId;

function creationOf(n: number): Parameters<PostgresStore['log']['append']>[0] {
  const runId = runOf(n);
  return creation(runId, { create: { tenant: `t${n % 2}`, contextId: `ctx_${n}` as ContextId, originRunId: runId } });
}

it.each([
  ['with a direct way to listen', true],
  ['without one', false],
])('appends, claims, holds and tells over two nodes, %s', async (_, listens) => {
  const { nodes, used } = await behindPooler({ listens });
  const [a, b] = nodes;
  const heard: string[] = [];
  const all = Promise.withResolvers<void>();
  b.log.follow(({ runId, rows }) => {
    for (const { seq } of rows) heard.push(`${runId}:${seq}`);
    if (heard.length === 36) all.resolve();
  });
  const runs = Array.from({ length: 12 }, (_, n) => n);
  await Promise.all(runs.map((n) => a.log.append(creationOf(n))));
  await Promise.all(
    runs.map((n) => a.log.append({ runId: runOf(n), rows: [row('x'), row('y')], rest: { wakeAt: 5 } })),
  );
  await all.promise;
  expect(heard.toSorted()).toEqual(runs.flatMap((n) => [0, 1, 2].map((seq) => `run_${n}:${seq}`)).toSorted());
  const claims = await Promise.all(
    nodes.map(({ queue }, n) => queue.claim({ owner: `n${n}`, now: 10, until: 1_000, limit: 8 })),
  );
  const claimed = claims.flat().map(({ runId }) => runId);
  expect(new Set(claimed).size).toBe(claimed.length);
  const held = await Promise.all(
    nodes.map(({ cluster }, n) => cluster.hold({ name: 'webhooks', owner: `n${n}`, now: 0, until: 10 })),
  );
  expect(held.filter((fence) => fence !== null)).toHaveLength(1);
  const page = await b.changes.read({ after: '0', limit: 100, filter: null });
  expect(page.rows).toHaveLength(36);
  expect(used()).toBe(SESSIONS);
});

it('applies migrations through a pooler', async () => {
  const direct = await freshDatabase();
  const owner = connect({ url: direct, connections: 1 });
  await new Database(owner).changed('DROP SCHEMA cairn CASCADE');
  await owner.end();
  const pooler = await startPooler(direct, 1);
  const pool = connect({ url: pooler.url, connections: 2 });
  onTestFinished(async () => {
    await pool.end();
    await pooler[Symbol.asyncDispose]();
  });
  const [first, second] = await Promise.all([0, 1].map(() => migratePostgres(new Database(pool))));
  expect([first?.applied.length, second?.applied.length].toSorted()).toEqual([0, first?.version]);
});
