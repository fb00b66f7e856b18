/** What every store promises of a fork whose source was purged by force: it says what it lost, and never shows less. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { eachStore, type Open } from './contract.kit.ts';
import type { RunFork } from './event-log.ts';
import { apart, fork1, fork2, forkOf, seqs, ten, third } from './fork-samples.kit.ts';
import { ids, kept } from './memory-samples.kit.ts';
import { purge } from './purging.kit.ts';
import { context, creation, row, runA, runB } from './samples.kit.ts';

const ended = row('run.completed');
const lost = { code: 'run_purged', details: { runId: fork1 } };

export function purgedForksContract(open: Open): void {
  const store = eachStore(open);
  const log = () => store().log;

  /** A source with ten rows and an end, a fork at 6 with three rows of its own, and the purge of the source. */
  async function purgedSource(): Promise<void> {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 6));
    await log().append({ runId: fork1, rows: [row('own'), row('own'), ended] });
    await purge(store(), runA);
  }

  it.each(['client', undefined] as const)(
    'refuses reads that begin among purged rows (audience %s)',
    async (audience) => {
      await purgedSource();
      for (const isForFrames of [false, true]) {
        for (const after of [-1, 0, 3, 4]) {
          await expect(log().read({ runId: fork1, after, limit: 2, audience, isForFrames })).rejects.toMatchObject(
            lost,
          );
        }
        expect(seqs(await log().read({ runId: fork1, after: 5, limit: 9, audience, isForFrames }))).toEqual([6, 7, 8]);
      }
      await expect(log().read({ contextId: apart, afterCursor: 0, limit: 1, audience })).rejects.toMatchObject(lost);
      await expect(log().read({ contextId: apart, afterCursor: 5, limit: 9, audience })).rejects.toMatchObject(lost);
      expect(seqs(await log().read({ contextId: apart, afterCursor: 6, limit: 9, audience }))).toEqual([6, 7, 8]);
    },
  );

  it('shows the other runs of a context up to the first row that is gone', async () => {
    await log().append(creation(runB, { rows: ten.slice(0, 2) }));
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 3));
    await log().fork(forkOf(runB, 2, { runId: fork2, originRunId: runB, parentRunId: fork1 }));
    await log().append({ runId: fork2, rows: [ended] });
    await log().append({ runId: fork1, rows: [ended] });
    await purge(store(), runA);
    const read = (afterCursor: number, limit: number) => log().read({ contextId: apart, afterCursor, limit });
    expect((await read(0, 2)).map(({ runId }) => runId)).toEqual([fork2, fork2]);
    await expect(read(0, 3)).rejects.toMatchObject(lost);
    expect((await read(5, 9)).map(({ runId, seq }) => `${runId}:${seq}`)).toEqual([`${fork2}:2`, `${fork1}:3`]);
  });

  it('keeps head, index and place of the fork, with its own rows and without', async () => {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 6));
    await log().fork(forkOf(runA, 11, { runId: fork2, contextId: third }));
    await log().append({ runId: fork1, rows: [ended] });
    const before = [await log().head(fork1), await log().head(fork2)];
    await purge(store(), runA);
    expect([await log().head(fork1), await log().head(fork2)]).toEqual(before);
    const { runs } = await store().runIndex.list({ tenant: 't', limit: 9 });
    expect(runs.map(({ runId, status }) => `${runId} ${status}`)).toEqual([`${fork2} completed`, `${fork1} completed`]);
    expect(await store().runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect([await log().head(fork1), await log().head(fork2)]).toEqual(before);
    await expect(log().read({ runId: fork2, after: 9, limit: 1 })).rejects.toMatchObject({ code: 'run_purged' });
  });

  it.each<[string, RunId, number, RunFork['mode']?]>([
    ['the purged source', runA, 3],
    ['the purged source at 0', runA, 0],
    ['a fork, at a row that is gone', fork1, 3],
    ['a fork, behind the rows that are gone', fork1, 8],
    ['a fork at 0, which needs its first row', fork1, 0],
    ['a fork at 0 to replay it, which needs every row', fork1, 0, 'replay'],
  ])('refuses to fork %s', async (_, sourceRunId, fromSeq, mode = 'branch') => {
    await purgedSource();
    const run = forkOf(sourceRunId, fromSeq, { runId: fork2, contextId: third, mode });
    await expect(log().fork(run)).rejects.toMatchObject({
      code: 'replay_memory_snapshot_unavailable',
      details: { sourceRunId, fromSeq, reason: 'retention_expired' },
    });
    expect(await log().head(fork2)).toBeNull();
    expect(await store().contexts.tenant(third)).toBeNull();
  });

  it("keeps a purged source unknown to another tenant's fork", async () => {
    await purgedSource();
    const run = forkOf(runA, 3, { runId: fork2, contextId: third, tenant: 'other' });
    await expect(log().fork(run)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('refuses a fork of forks by the rows of any of them, and shows what is left', async () => {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 4));
    await log().append({ runId: fork1, rows: [row('own'), row('own'), ended] });
    await log().fork(forkOf(fork1, 6, { runId: fork2, contextId: third }));
    await log().append({ runId: fork2, rows: [ended] });
    await purge(store(), fork1);
    expect(seqs(await log().read({ runId: fork2, after: -1, limit: 4 }))).toEqual([0, 1, 2, 3]);
    await expect(log().read({ runId: fork2, after: 3, limit: 1 })).rejects.toMatchObject({ code: 'run_purged' });
    expect(seqs(await log().read({ runId: fork2, after: 5, limit: 4 }))).toEqual([6]);
    expect(await store().runIndex.rebuild()).toEqual({ runs: 2, repaired: 0 });
    const before = { runId: 'run_f3' as RunId, contextId: 'ctx_f3' as ContextId };
    await expect(log().fork(forkOf(fork2, 3, { ...before, mode: 'replay' }))).rejects.toMatchObject({
      details: { fromSeq: 3 },
    });
    await expect(log().fork(forkOf(fork2, 3, before))).resolves.toBeUndefined();
  });

  it('refuses to retire a run while a fork of it goes on, and changes nothing', async () => {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 3));
    await expect(store().purges.retire(runA, 1)).rejects.toMatchObject({
      code: 'conflict',
      details: { runId: runA, forks: [fork1] },
    });
    expect(await log().head(runA)).not.toBeNull();
    await log().append({ runId: fork1, rows: [ended] });
    await expect(store().purges.retire(runA, 1)).resolves.toBeUndefined();
  });

  it.each<[string, RunFork['mode']]>([
    ['branch that shares nothing', 'branch'],
    ['replay from the start', 'replay'],
  ])('refuses to retire a run while a %s goes on, which reads its record', async (_, mode) => {
    await log().append(creation(runA, { rows: [...ten, ended] }));
    await log().fork(forkOf(runA, 0, { mode, rows: [row('own')] }));
    const refusal = { code: 'conflict', details: { runId: runA, forks: [fork1] } };
    expect((await store().retention.forks(runA, 9)).map(({ runId }) => runId)).toEqual([fork1]);
    await expect(store().purges.retire(runA, 1)).rejects.toMatchObject(refusal);
    await log().append({ runId: fork1, rows: [ended] });
    expect(await store().retention.forks(runA, 9)).toEqual([]);
    await expect(store().purges.retire(runA, 1)).resolves.toBeUndefined();
  });

  /** Two generations below a root; all have ended. */
  async function family(): Promise<readonly [child: RunId, grandchild: RunId]> {
    const [child, grandchild] = [`${runA}.0` as RunId, `${runA}.0.0` as RunId];
    await log().append(creation(runA, { rows: [...ten, ended] }));
    for (const [runId, parentRunId] of [
      [child, runA],
      [grandchild, child],
    ] as const) {
      const create = { tenant: 't', contextId: context, originRunId: runId, parentRunId };
      await log().append(creation(runId, { create, rows: [...ten, ended] }));
    }
    return [child, grandchild];
  }

  it('refuses to retire a tree while a fork of a run below the root goes on', async () => {
    const [, grandchild] = await family();
    await log().fork(forkOf(grandchild, 3, { originRunId: grandchild }));
    const refusal = { code: 'conflict', details: { runId: runA, forks: [fork1] } };
    await expect(store().purges.retire(runA, 1)).rejects.toMatchObject(refusal);
    await log().append({ runId: fork1, rows: [ended] });
    await expect(store().purges.retire(runA, 1)).resolves.toBeUndefined();
  });

  it('refuses a fork of a run below a root that was retired, although its rows are still there', async () => {
    const below = await family();
    await store().purges.retire(runA, 1);
    for (const sourceRunId of below) {
      const refusal = { code: 'replay_memory_snapshot_unavailable', details: { sourceRunId } };
      await expect(log().fork(forkOf(sourceRunId, 3, { originRunId: sourceRunId }))).rejects.toMatchObject(refusal);
      const foreign = forkOf(sourceRunId, 3, { originRunId: sourceRunId, tenant: 'other' });
      await expect(log().fork(foreign)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('keeps what a purged run remembered when the index is rebuilt', async () => {
    await log().append(creation(runA, { rows: [...ten, kept('m1'), ended] }));
    await purge(store(), runA);
    await store().runIndex.rebuild();
    expect(await ids(store())).toEqual(['m1']);
  });
}
