/** What every store promises of runs that were written elsewhere: all rows or none, and inert for ever. */

import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { inMemoryStore } from '../in-memory/store.ts';
import { eachStore, type Open } from './contract.kit.ts';
import type { ImportRun } from './event-log.ts';
import type { NewRow, Row } from './rows.ts';
import { asked, context, creation, row, runA, runB, started } from './samples.kit.ts';

interface Elsewhere {
  readonly run: ImportRun;
  readonly rows: readonly NewRow[];
  readonly stored: readonly Row[];
}

/** A run of another store: what its bundle holds. */
async function elsewhere(rows: readonly NewRow[]): Promise<Elsewhere> {
  const source = inMemoryStore();
  await source.log.append(creation(runA, { rows }));
  const stored = await rowsOf(source, runA);
  const { seq, hash } = present(stored.at(-1));
  const run: ImportRun = { runId: runA, tenant: 't', contextId: context, originRunId: runA, importedAt: 9, seq, hash };
  return { run, rows, stored };
}

/** More rows than any store has in memory at once. */
const long: readonly NewRow[] = [
  started(),
  asked('i1'),
  ...Array.from({ length: 700 }, (_, i) => row('log.appended', { at: 1_000 + i, payload: `{"i":${i}}`, task: '"t"' })),
];

export function importContract(open: Open<'log' | 'changes' | 'runIndex' | 'queue'>): void {
  const store = eachStore(open);
  const log = () => store().log;
  const runIndex = () => store().runIndex;

  it('keeps every row with its hashes, at new cursors', async () => {
    await log().append(creation(runB, { create: { tenant: 't', contextId: context, originRunId: runB } }));
    const { run, rows, stored } = await elsewhere(long);
    await log().importRun(run, rows);
    const found = await rowsOf(store(), runA);
    expect(found.map(({ cursor, ...rest }) => rest)).toEqual(stored.map(({ cursor, ...rest }) => rest));
    expect(verifyChain(found, runA)).toBeNull();
    const inContext = await log().read({ contextId: context, afterCursor: 0, limit: 10_000 });
    expect(new Set(inContext.map(({ cursor }) => cursor)).size).toBe(long.length + 1);
    expect((await log().append({ runId: runB, rows: [row('a')] })).cursor).toBeGreaterThan(
      present(inContext.at(-1)).cursor,
    );
  });

  it('lists it among the runs without a parent while its parent is not here', async () => {
    const { run, rows } = await elsewhere(long);
    const [above, first, second] = ['run_above', 'run_first', 'run_second'] as RunId[] as [RunId, RunId, RunId];
    const listed = async (limit = 9) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await runIndex().list({ tenant: 't', parentRunId: null, limit, cursor });
        found.push(...page.runs.map(({ runId }) => runId));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return found;
    };
    await log().append(creation(runB, { create: { tenant: 't', contextId: context, originRunId: runB } }));
    await log().importRun({ ...run, runId: first, parentRunId: above }, rows);
    await log().append(creation('run_between' as RunId));
    await log().importRun({ ...run, runId: second, parentRunId: first }, rows);
    await log().importRun({ ...run, parentRunId: above }, rows);
    for (const limit of [9, 1, 2, 3]) expect(await listed(limit)).toEqual([runA, 'run_between', first, runB]);
    // A run of another tenant is not here.
    await log().append(
      creation(above, { create: { tenant: 'other', contextId: 'ctx_other' as ContextId, originRunId: above } }),
    );
    expect(await listed()).toEqual([runA, 'run_between', first, runB]);
    await log().importRun({ ...run, runId: 'run_below' as RunId, parentRunId: runB }, rows);
    expect(await listed(2)).toEqual([runA, 'run_between', first, runB]);
  });

  it('leaves it out of what the runs of its context said here', async () => {
    await log().append(creation(runB, { create: { tenant: 't', contextId: context, originRunId: runB } }));
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    await log().append({ runId: runB, rows: [row('a')] });
    const local = await log().read({ contextId: context, afterCursor: 0, limit: 10_000, isLocal: true });
    expect(local.map(({ runId, seq }) => `${runId} ${seq}`)).toEqual([`${runB} 0`, `${runB} 1`]);
  });

  it('lists it, marked, with what its rows say', async () => {
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    const record = { runId: runA, status: 'waiting-approval', importedAt: 9, tags: ['red'], createdAt: 1_000 };
    expect((await runIndex().list({ tenant: 't', tag: 'red', limit: 9 })).runs).toMatchObject([record]);
    expect(await log().head(runA)).toMatchObject({ record, seq: run.seq, hash: run.hash, owner: null });
    expect(await runIndex().interrupts(runA)).toMatchObject([{ interruptId: 'i1', open: true }]);
    expect(await runIndex().rebuild()).toEqual({ runs: 1, repaired: 0 });
    expect(await log().head(runA)).toMatchObject({ record });
  });

  it('never lets it go on: no append, no answer, no lease, no wake', async () => {
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    const claim = { owner: 'n', now: 5, until: 50 };
    for (const attempt of [{}, { answers: 'i1' }, { claim }]) {
      const append = log().append({ runId: runA, rows: [row('a')], ...attempt });
      await expect(append).rejects.toMatchObject({ code: 'run_imported' });
    }
    await log().append({ ...creation(runB), wakes: [{ runId: runA, at: 1 }] });
    expect(await store().queue.due()).toBeNull();
    expect(await store().queue.claim({ owner: 'n', now: 1_000_000, until: 2_000_000, limit: 9 })).toEqual([]);
  });

  it('shows it to no reader of all runs, and does not count it as one that has not ended', async () => {
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    await log().append({ ...creation(runB), claim: { owner: 'n', now: 5, until: 50 } });
    const seen: string[] = [];
    for (let after = '0', isMore = true; isMore; ) {
      const page = await store().changes.read({ after, limit: 7, filter: null });
      seen.push(...page.rows.map(({ runId }) => runId));
      isMore = page.position !== after;
      after = page.position;
    }
    expect(seen).toEqual([runB]);
    expect(await store().queue.depth(1_000_000)).toEqual({ active: 1, due: 0 });
  });

  it('tells nobody who follows', async () => {
    const heard: string[] = [];
    log().follow(({ runId }) => heard.push(runId));
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    await log().append(creation(runB));
    expect(heard).toEqual([runB]);
  });

  it.each<[string, (rows: readonly NewRow[]) => readonly NewRow[]]>([
    ['a changed row', (rows) => rows.with(400, { ...present(rows[400]), payload: '{"i":1e9}' })],
    ['a missing row', (rows) => rows.toSpliced(400, 1)],
    ['a missing end', (rows) => rows.slice(0, -1)],
    ['rows in another order', (rows) => rows.with(400, present(rows[401])).with(401, present(rows[400]))],
    ['no rows', () => []],
  ])('refuses %s and leaves nothing, also in the eyes of its neighbours', async (_, damage) => {
    const { run, rows } = await elsewhere(long.map((one) => ({ ...one, at: 1_000 })));
    const imported = log().importRun(run, damage(rows));
    const neighbour = log().append(creation(runB));
    await expect(imported).rejects.toMatchObject({ code: 'bundle_invalid' });
    await expect(neighbour).resolves.toMatchObject({ seq: 0 });
    expect(await log().head(runA)).toBeNull();
    expect(await rowsOf(store(), runA)).toEqual([]);
    expect((await runIndex().list({ tenant: 't', limit: 9 })).runs.map(({ runId }) => runId)).toEqual([runB]);
    await expect(log().importRun(run, rows)).resolves.toBeUndefined();
  });

  it('refuses a run that is here already', async () => {
    const { run, rows } = await elsewhere(long);
    await log().importRun(run, rows);
    await expect(log().importRun(run, rows)).rejects.toMatchObject({ code: 'conflict' });
    await log().append(creation(runB));
    await expect(log().importRun({ ...run, runId: runB }, rows)).rejects.toMatchObject({ code: 'conflict' });
  });

  it("refuses a context that is another tenant's", async () => {
    const other = { tenant: 'other', contextId: context, originRunId: runB };
    await log().append(creation(runB, { create: other }));
    const { run, rows } = await elsewhere(long);
    await expect(log().importRun(run, rows)).rejects.toMatchObject({ code: 'conflict', message: /another tenant/ });
    const apart = { ...run, contextId: 'ctx_two' as ContextId };
    await expect(log().importRun(apart, rows)).resolves.toBeUndefined();
  });
}
