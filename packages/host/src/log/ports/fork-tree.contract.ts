/** What every store promises of forks of a tree: one commit for all of its runs, cut where the cursors say. */
import { expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import type { Ports } from './contract.kit.ts';
import type { OtherFork } from './event-log.ts';
import { type Forks, fork1, fork2, forkOf, seqs, ten } from './fork-samples.kit.ts';
import { creation, row, runA, runB, started } from './samples.kit.ts';

const otherOf = (fromSeq: number, over: Partial<OtherFork> = {}): OtherFork => ({
  ...forkOf(runB, fromSeq, { runId: fork2, originRunId: runB, parentRunId: fork1 }),
  ...over,
});

export function forkTreeContract(store: () => Ports<Forks>): void {
  const log = () => store().log;

  const tree = async () => {
    await log().append(creation(runA, { rows: ten.slice(0, 3) }));
    await log().append(creation(runB, { rows: ten.slice(0, 3) }));
    await log().append({ runId: runA, rows: ten.slice(3, 5) });
    await log().append({ runId: runB, rows: ten.slice(3, 5) });
  };

  it('counts the rows of a run up to a cursor, over the cut of a fork too', async () => {
    await tree();
    await log().fork({ ...forkOf(runA, 4), rows: [row('own', { at: 5000 })] });
    for (const runId of [runA, runB, fork1]) {
      const rows = await rowsOf(store(), runId);
      for (const { seq, cursor } of rows) {
        expect(await log().rowsUntil(runId, cursor)).toBe(seq + 1);
        expect(await log().rowsUntil(runId, cursor - 1)).toBe(seq);
      }
      expect(await log().rowsUntil(runId, 0)).toBe(0);
      expect(await log().rowsUntil(runId, Number.MAX_SAFE_INTEGER)).toBe(rows.length);
    }
    expect(await store().changes.lastCursor()).toBe(present((await rowsOf(store(), fork1)).at(-1)).cursor);
    const [first] = await rowsOf(store(), runB);
    expect(await log().rowsUntil(runA, present(first).cursor)).toBe(3);
    expect(await log().rowsUntil(fork2, 99)).toBe(0);
  });

  it('forks the runs of a tree in one commit, and tells of each', async () => {
    await tree();
    const told: string[] = [];
    const unfollow = log().follow(({ runId, rows }) => void told.push(`${runId} ${rows.map(({ type }) => type)}`));
    const own = [row('own', { at: 5000 })];
    await log().fork({ ...forkOf(runA, 5), rows: own, others: [otherOf(4, { rows: own })] });
    unfollow();
    expect(told).toEqual([`${fork1} own`, `${fork2} own`]);
    expect(seqs(await rowsOf(store(), fork1))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seqs(await rowsOf(store(), fork2))).toEqual([0, 1, 2, 3, 4]);
    expect(await log().head(fork2)).toMatchObject({ record: { parentRunId: fork1, originRunId: runB } });
    const claims = await store().queue.claim({ owner: 'n2', now: 9_000, until: 20_000, limit: 9 });
    expect(claims.map(({ runId }) => runId).sort()).toEqual([fork1, fork2]);
  });

  it('lists a run above a waiting one as waiting, whichever of them the fork is about', async () => {
    await log().append(creation(runA, { rows: [started({ tags: ['tree'] }), row('a')] }));
    await log().append(creation(runB, { rows: ten.slice(0, 7) }));
    const own = [row('own', { at: 5000 })];
    const child = forkOf(runB, 6, { runId: fork2, originRunId: runB, parentRunId: fork1, rows: own });
    const { others: _, idempotency: __, ...parent } = forkOf(runA, 2, { rows: own });
    await log().fork({ ...child, others: [parent] });
    expect(await store().runIndex.shown([fork1])).toEqual(new Map([[fork1, 'waiting-approval']]));
    const { runs } = await store().runIndex.list({ tenant: 't', limit: 9, tag: 'tree', status: 'waiting-approval' });
    expect(runs.map(({ runId }) => runId)).toEqual([fork1]);
  });

  it('makes no fork of a tree if one of its runs is refused', async () => {
    await tree();
    const own = [row('own', { at: 5000 })];
    const large = [row('own', { at: 5000, payload: JSON.stringify({ text: 'x'.repeat(1_200_000) }) })];
    const refused: [OtherFork, object][] = [
      [otherOf(6, { rows: own }), { code: 'invalid_from_seq' }],
      [otherOf(4, { runId: runA, rows: own }), { code: 'conflict' }],
      [otherOf(4, { rows: large }), {}],
      [{ ...otherOf(4), ...forkOf(runA, 2, { runId: fork2 }) }, {}],
    ];
    for (const [other, error] of refused) {
      await expect(log().fork({ ...forkOf(runA, 5), rows: own, others: [other] })).rejects.toMatchObject(error);
      expect(await log().head(fork1)).toBeNull();
      expect(await log().head(fork2)).toBeNull();
      expect(seqs(await rowsOf(store(), fork1))).toEqual([]);
    }
    await log().fork({ ...forkOf(runA, 5), rows: own, others: [otherOf(4, { rows: own })] });
    expect(seqs(await rowsOf(store(), fork2))).toEqual([0, 1, 2, 3, 4]);
  });
}
