/** Nodes that write at once hear every row of each other: a cursor that becomes visible late is not passed over. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Commit } from '../../ports/event-log.ts';
import { creation, row } from '../../ports/samples.kit.ts';
import { elapsedMs, freshDatabase } from '../server.kit.ts';
import { openPostgresStore, type PostgresStore } from '../store.ts';

const NODES = 3;
const RUNS = 8;
const APPENDS = 40;

test('three nodes that write at once tell their followers every row of every run that these need, in order', async () => {
  const url = await freshDatabase();
  const nodes = await Promise.all(Array.from({ length: NODES }, () => openPostgresStore({ url, elapsedMs })));
  onTestFinished(async () => {
    for (const node of nodes) await node.close();
  });
  const heard = nodes.map(() => new Map<string, number[]>());
  const all = Promise.withResolvers<void>();
  const expected = (NODES - 1) * NODES * RUNS * (2 * APPENDS + 1);
  let told = 0;
  const some = nodes.map(() => new Map<string, string[]>());
  const isWaitedFor = (runId: string): boolean => runId.endsWith('3');
  for (const [i, { log }] of nodes.entries()) {
    const waits = ({ runId }: { runId: RunId }) => isWaitedFor(runId);
    const takeSome = ({ runId, rows }: Commit) => {
      const seqs = some[i]?.get(runId) ?? [];
      some[i]?.set(runId, [...seqs, ...rows.map(({ seq, type }) => `${seq} ${type}`)]);
    };
    log.follow(takeSome, { waits, types: () => ['y'] });
    // Without it, nobody needs everything.
    if (i === 2) continue;
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
  const needed = (runs: Map<string, string[]> | undefined) =>
    [...(runs ?? [])].flatMap(([runId, rows]) => (isWaitedFor(runId) ? rows : rows.filter((one) => one.endsWith('y'))));
  const ofWaited = NODES * (2 * APPENDS + 1);
  await vi.waitFor(() => {
    for (const runs of some) expect(needed(runs).length).toBe(ofWaited + NODES * (RUNS - 1) * APPENDS);
  });
  for (const [runId, rows] of some.flatMap((runs) => [...runs])) {
    const seqs = rows.map((one) => Number.parseInt(one, 10));
    expect(seqs).toEqual(isWaitedFor(runId) ? [...seqs.keys()] : [...new Set(seqs)].toSorted((a, b) => a - b));
  }
  for (const runs of heard.slice(0, -1)) {
    expect(runs.size).toBe(NODES * RUNS);
    for (const seqs of runs.values()) expect(seqs).toEqual([...seqs.keys()]);
  }
}, 30_000);
