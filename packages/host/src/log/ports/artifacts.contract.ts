/** What every store promises of artifacts: one writer at a time, versions that switch at their end, and old ones to read. */
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import type { ArtifactClaim } from './artifacts.ts';
import { eachStore, type Open } from './contract.kit.ts';
import type { NewRow } from './rows.ts';
import { context, creation, row, runA, runB, started } from './samples.kit.ts';

const ended = row('run.completed');

const chunk = (version: number, index: number, fields: object = {}): NewRow =>
  row('cairn.artifact.chunk', {
    payload: JSON.stringify({
      artifactId: 'report.md',
      version,
      index,
      complete: false,
      data: 'ab',
      bytes: 2,
      ...fields,
    }),
  });

const last = { complete: true };

export function artifactsContract(open: Open<'log' | 'purges' | 'artifacts'>): void {
  const store = eachStore(open);
  const claim = (fields: Partial<ArtifactClaim> = {}) =>
    store().artifacts.claim({
      runId: runA,
      contextId: context,
      artifactId: 'report.md',
      family: 'file',
      writer: { life: 'one', callId: 'call' },
      at: 1_000,
      ...fields,
    });
  const append = (runId: RunId, ...rows: readonly NewRow[]) => store().log.append({ runId, rows });
  const current = async () => (await store().artifacts.get(context, 'report.md'))?.version ?? null;
  const begin = (...runs: readonly RunId[]) => Promise.all(runs.map((runId) => store().log.append(creation(runId))));

  describe('a version', () => {
    it('becomes current with its last piece, and the one before stays readable', async () => {
      await begin(runA);
      expect(await claim()).toBe(1);
      await append(runA, chunk(1, 0, { name: 'Report', mimeType: 'text/markdown' }));
      expect(await current()).toBeNull();
      const [open] = await store().artifacts.list(context, { limit: 9 });
      expect(open).toMatchObject({ current: null, open: { version: 1, state: 'open', size: 2 } });
      await append(runA, chunk(1, 1, last));
      expect(await store().artifacts.get(context, 'report.md')).toEqual({
        artifactId: 'report.md',
        version: 1,
        family: 'file',
        runId: runA,
        state: 'complete',
        firstSeq: 1,
        lastSeq: 2,
        size: 4,
        name: 'Report',
        mimeType: 'text/markdown',
        updatedAt: 1_000,
      });
      expect(await claim({ expectedVersion: 1 })).toBe(2);
      await append(runA, chunk(2, 0));
      expect(await current()).toBe(1);
      await append(runA, chunk(2, 1, last));
      expect(await current()).toBe(2);
      expect(await store().artifacts.get(context, 'report.md', 1)).toMatchObject({ lastSeq: 2, state: 'complete' });
      expect(await store().artifacts.get(context, 'report.md', 2)).toMatchObject({ name: 'Report', firstSeq: 3 });
      expect(await store().artifacts.get(context, 'report.md', 3)).toBeNull();
      expect(await store().artifacts.get('ctx_other' as ContextId, 'report.md')).toBeNull();
    });

    it('never becomes current when its run ends first', async () => {
      await begin(runA, runB);
      await claim();
      await append(runA, chunk(1, 0), ended);
      expect(await store().artifacts.list(context, { limit: 9 })).toEqual([]);
      expect(await store().artifacts.get(context, 'report.md', 1)).toMatchObject({ state: 'abandoned' });
      expect(await claim({ runId: runB })).toBe(2);
    });

    it('takes no piece out of order, and none of another run: the append is refused', async () => {
      await begin(runA, runB);
      await claim();
      const disorder = (index: number, expected: number) => ({
        code: 'artifact_chunk_out_of_order',
        details: { artifactId: 'report.md', index, expected },
      });
      await expect(append(runA, chunk(1, 1))).rejects.toMatchObject(disorder(1, 0));
      await expect(append(runA, chunk(1, 0), chunk(1, 2, last))).rejects.toMatchObject(disorder(2, 1));
      await append(runA, chunk(1, 0));
      await expect(append(runA, chunk(1, 0))).rejects.toMatchObject(disorder(0, 1));
      await expect(append(runA, chunk(2, 1))).rejects.toMatchObject(disorder(1, 0));
      const conflict = { code: 'artifact_version_conflict' };
      await expect(append(runB, chunk(1, 1, last))).rejects.toMatchObject(conflict);
      await expect(append(runB, chunk(2, 0, last))).rejects.toMatchObject(conflict);
      expect(await current()).toBeNull();
      // A last piece may hold nothing.
      await append(runA, chunk(1, 1, { ...last, data: '', bytes: 0 }));
      expect(await store().artifacts.get(context, 'report.md')).toMatchObject({ size: 2, runId: runA });
      await expect(append(runA, chunk(1, 2))).rejects.toMatchObject(disorder(2, 2));
      await expect(append(runB, chunk(1, 0))).rejects.toMatchObject(conflict);
      await append(runB, chunk(2, 0, last));
      expect(await current()).toBe(2);
    });
  });

  describe('a claim', () => {
    it('keeps every other writer away until it ends', async () => {
      await begin(runA, runB);
      await claim();
      const conflict = { code: 'artifact_version_conflict' };
      await expect(claim({ runId: runB })).rejects.toMatchObject(conflict);
      await expect(claim({ writer: { life: 'one', callId: 'other' } })).rejects.toMatchObject(conflict);
      await append(runA, chunk(1, 0));
      await expect(claim({ runId: runB })).rejects.toMatchObject(conflict);
      await append(runA, chunk(1, 1, last));
      expect(await claim({ runId: runB })).toBe(2);
    });

    it('is refused when the expected version is not the current one', async () => {
      await begin(runA);
      await expect(claim({ expectedVersion: 1 })).rejects.toMatchObject({ details: { currentVersion: 0 } });
      expect(await claim({ expectedVersion: 0 })).toBe(1);
    });

    it('is taken over by a retry of its call, and by its run in another life of the host', async () => {
      await begin(runA);
      await claim();
      await append(runA, chunk(1, 0));
      expect(await claim()).toBe(2);
      await append(runA, chunk(2, 0));
      expect(await store().artifacts.get(context, 'report.md', 1)).toMatchObject({ state: 'abandoned' });
      expect(await claim({ writer: { life: 'two', callId: 'other' } })).toBe(3);
    });

    it('that is given up lets the next writer in', async () => {
      await begin(runA, runB);
      await claim();
      await append(runA, chunk(1, 0));
      await store().artifacts.abandon({
        runId: runA,
        contextId: context,
        artifactId: 'report.md',
        writer: { life: 'one', callId: 'call' },
      });
      expect(await store().artifacts.get(context, 'report.md', 1)).toMatchObject({ state: 'abandoned' });
      expect(await claim({ runId: runB })).toBe(2);
    });
  });

  it('lists artifacts by id, page by page, and forgets those of a purged run', async () => {
    await begin(runB);
    const record = (artifactId: string) =>
      row('artifact.created', {
        payload: JSON.stringify({ artifactId, artifactType: 'data', version: '1', data: { a: 1 } }),
      });
    await store().log.append(creation(runA, { rows: [started(), record('c'), record('a'), record('b'), ended] }));
    const ids = async (after?: string) =>
      (await store().artifacts.list(context, { limit: 2, after })).map(({ current: one }) => one?.artifactId);
    expect([await ids(), await ids('b')]).toEqual([['a', 'b'], ['c']]);
    expect(await store().artifacts.get(context, 'a')).toMatchObject({ family: 'data', size: 7 });
    await store().purges.retire(runA, 9_000);
    for (let isDone = false; !isDone; ) isDone = (await store().purges.purgeSome(runA)).isDone;
    expect(await ids()).toEqual([]);
  });

  it('gives a fork the versions that were complete at its cut', async () => {
    const rows = [started(), chunk(1, 0, last), chunk(2, 0), chunk(2, 1, last)];
    await store().log.append(creation(runA, { rows }));
    const contextId = 'ctx_fork' as ContextId;
    const fork = { sourceRunId: runA, fromSeq: 3, mode: 'branch' as const };
    await store().log.fork({ runId: runB, tenant: 't', contextId, originRunId: runA, fork, at: 2_000 });
    expect(await store().artifacts.get(contextId, 'report.md')).toMatchObject({ version: 1, runId: runB });
    expect(await current()).toBe(2);
  });

  it('gives a fork of a fork nothing that the first run wrote after its own cut', async () => {
    const notes = [row('log.appended'), row('log.appended')];
    await store().log.append(creation(runA, { rows: [started(), ...notes, chunk(1, 0, last)] }));
    const [first, second] = ['ctx_first', 'ctx_second'] as [ContextId, ContextId];
    const common = { tenant: 't', originRunId: runA, at: 2_000 };
    const cut = (sourceRunId: RunId, fromSeq: number) => ({ fork: { sourceRunId, fromSeq, mode: 'branch' as const } });
    const again = 'run_again' as RunId;
    await store().log.fork({ ...common, runId: runB, contextId: first, ...cut(runA, 2) });
    await append(runB, ...notes, ...notes);
    await store().log.fork({ ...common, runId: again, contextId: second, ...cut(runB, 5) });
    expect(await store().artifacts.list(second, { limit: 9 })).toEqual([]);
    await append(again, chunk(1, 0, last));
    expect(await store().artifacts.get(second, 'report.md')).toMatchObject({ version: 1, firstSeq: 5, runId: again });
  });

  it('does not give the number of a version again that the cut of a branch left open', async () => {
    const rows = [started(), chunk(1, 0, { name: 'Report' }), chunk(1, 1, last)];
    await store().log.append(creation(runA, { rows }));
    const contextId = 'ctx_branch' as ContextId;
    const fork = { sourceRunId: runA, fromSeq: 2, mode: 'branch' as const };
    await store().log.fork({ runId: runB, tenant: 't', contextId, originRunId: runA, fork, at: 2_000 });
    expect(await store().artifacts.get(contextId, 'report.md')).toBeNull();
    expect(await claim({ runId: runB, contextId })).toBe(2);
    await append(runB, chunk(2, 0, last));
    const of = { version: 2, firstSeq: 2, name: 'Report', size: 2 };
    expect(await store().artifacts.get(contextId, 'report.md')).toMatchObject(of);
    expect(await store().artifacts.get(contextId, 'report.md', 1)).toMatchObject({ state: 'abandoned', runId: runB });
  });

  it('gives a replay that is cut within a version the whole of it', async () => {
    const pieces = [chunk(1, 0, { name: 'Report' }), chunk(1, 1), chunk(1, 2, last)];
    await store().log.append(creation(runA, { rows: [started(), ...pieces] }));
    const contextId = 'ctx_replay' as ContextId;
    const fork = { sourceRunId: runA, fromSeq: 2, mode: 'replay' as const };
    await store().log.fork({ runId: runB, tenant: 't', contextId, originRunId: runA, fork, at: 2_000 });
    await append(runB, ...pieces.slice(1));
    const of = { version: 1, size: 6, firstSeq: 1, lastSeq: 3, name: 'Report', state: 'complete' };
    expect(await store().artifacts.get(contextId, 'report.md')).toMatchObject({ ...of, runId: runB });
  });
}
