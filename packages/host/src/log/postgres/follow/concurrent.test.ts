/** Nodes that write at once hear every row of each other: a cursor that becomes visible late is not passed over. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { creation, row } from '../../ports/samples.kit.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore, type PostgresStore } from '../store.ts';

const NODES = 3;
const RUNS = 8;
const APPENDS = 40;

test('three nodes that write at once tell their followers every row of every run, in order', async () => {
  const url = await freshDatabase();
  const nodes = await Promise.all(Array.from({ length: NODES }, () => openPostgresStore({ url, elapsedMs })));
  onTestFinished(async () => {
    for (const node of nodes) await node.close();
  });
  const heard = nodes.map(() => new Map<string, number[]>());
  const all = Promise.withResolvers<void>();
  const expected = NODES * NODES * RUNS * (2 * APPENDS + 1);
  let told = 0;
  for (const [i, { log }] of nodes.entries()) {
    log.follow(({ runId, rows }) => {
      const seqs = heard[i]?.get(runId) ?? [];
      heard[i]?.set(runId, [...seqs, ...rows.map(({ seq }) => seq)]);
      told += rows.length;
      if (told >= expected) all.resolve();
    });
  }
  const write = async ({ log }: PostgresStore, name: string): Promise<void> => {
    const runId = `run_${name}` as RunId;
    const given = creation(runId);
    const contextId = `ctx_${name}` as ContextId;
    await log.append({ ...given, ...(given.create && { create: { ...given.create, contextId, originRunId: runId } }) });
    for (let i = 0; i < APPENDS; i += 1) await log.append({ runId, rows: [row('x'), row('y')] });
  };
  await Promise.all(nodes.flatMap((node, i) => Array.from({ length: RUNS }, (_, n) => write(node, `${i}-${n}`))));
  // The last rows of a node that nobody follows up on are found by the next look.
  await all.promise;
  for (const runs of heard) {
    expect(runs.size).toBe(NODES * RUNS);
    for (const seqs of runs.values()) expect(seqs).toEqual([...seqs.keys()]);
  }
}, 30_000);
