/** What every store promises of forks: shared rows read as their own, and everything after the cut is their own. */
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { verifyChain } from '../chain.ts';
import { eachStore, type Open, type Ports } from './contract.kit.ts';
import type { ForkRun } from './event-log.ts';
import { forkIndexContract } from './fork-index.contract.ts';
import { apart, type Forks, fork1, fork2, forkOf, seqs, shared, ten, third } from './fork-samples.kit.ts';
import { forkTreeContract } from './fork-tree.contract.ts';
import { rowBytes } from './row-bytes.ts';
import type { Row } from './rows.ts';
import { context, creation, lease, row, runA, runB, started } from './samples.kit.ts';

export function forkContract(open: Open<Forks>): void {
  const store = eachStore(open);
  describe('shared rows', () => sharedRows(store));
  describe('own rows', () => ownRows(store));
  describe('the index', () => forkIndexContract(store));
  describe('a tree', () => forkTreeContract(store));
  describe('refusals', () => refusals(store));
}

function sharedRows(store: () => Ports<Forks>): void {
  const log = () => store().log;

  it('gives the rows before the cut as its own, with the cursors and hashes of the source', async () => {
    await log().append(creation(runA, { rows: ten }));
    const source = await rowsOf(store(), runA);
    await log().fork(forkOf(runA, 7));
    const found = await rowsOf(store(), fork1);
    expect(found.map(shared)).toEqual(source.slice(0, 7).map(shared));
    expect(new Set(found.map(({ runId, contextId }) => `${runId} ${contextId}`))).toEqual(
      new Set([`${fork1} ${apart}`]),
    );
    expect(await rowsOf(store(), runA)).toEqual(source);
  });

  it('gives a fold the payloads of shared and own rows, and what each counts with its face', async () => {
    const told = {
      payload: JSON.stringify({ text: 'a\u0000é𝄞' }),
      task: JSON.stringify({ kind: 'status', text: 'é' }),
    };
    const large = { payload: JSON.stringify({ text: 'é'.repeat(9_000) }), task: null };
    await log().append(creation(runA, { rows: [...ten.slice(0, 4), row('told', told), row('large', large)] }));
    await log().fork(forkOf(runA, 6));
    await log().append({ runId: fork1, rows: [row('told', told)] });
    const range = { runId: fork1, after: -1, limit: 100 };
    const counted = (rows: readonly Row[]) => rows.map((one) => [one.seq, one.payload, rowBytes(one)]);
    expect(counted(await log().read({ ...range, isForFolds: true }))).toEqual(counted(await log().read(range)));
    const [copied] = (await log().read({ ...range, after: 5, isForFolds: true })).map((one) => ({
      ...one,
      payload: '{}',
    }));
    expect(copied).not.toHaveProperty('bytes');
  });

  it.each([1, 2, 3, 6])('pages over the cut with %i rows at a time, for every reader', async (limit) => {
    await log().append(creation(runA, { rows: ten }));
    await log().fork(forkOf(runA, 6));
    const own = Array.from({ length: 4 }, (_, i) => row('own', { audience: i % 2 === 0 ? 'client' : 'operator' }));
    await log().append({ runId: fork1, rows: own });
    for (const audience of ['client', undefined] as const) {
      for (const isForFrames of [false, true]) {
        const all = await log().read({ runId: fork1, after: -1, limit: 100, audience, isForFrames });
        expect(seqs(all)).toEqual(audience === 'client' ? [0, 2, 3, 5, 6, 8] : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        const paged: Row[] = [];
        for (let after = -1; ; after = present(paged.at(-1)).seq) {
          const page = await log().read({ runId: fork1, after, limit, audience, isForFrames });
          expect(page.length).toBeLessThanOrEqual(limit);
          if (page.length === 0) break;
          paged.push(...page);
        }
        expect(paged).toEqual(all);
      }
      const whole = await log().read({ runId: fork1, after: -1, limit: 100, audience });
      const inContext: Row[] = [];
      for (let afterCursor = 0; ; afterCursor = present(inContext.at(-1)).cursor) {
        const page = await log().read({ contextId: apart, afterCursor, limit, audience });
        if (page.length === 0) break;
        inContext.push(...page);
      }
      expect(inContext).toEqual(whole);
    }
  });

  it('ends a page after the row that takes it past its size, before, at and after the cut', async () => {
    const rows = [started(), ...Array.from({ length: 5 }, () => row('a', { payload: '"12345678"', task: '{}' }))];
    await log().append(creation(runA, { rows }));
    await log().fork(forkOf(runA, 3));
    await log().append({ runId: fork1, rows: rows.slice(1) });
    const page = async (after: number, maxBytes: number) =>
      seqs(await log().read({ runId: fork1, after, limit: 9, maxBytes }));
    expect(await page(0, 24)).toEqual([1, 2]);
    expect(await page(0, 25)).toEqual([1, 2, 3]);
    expect(await page(1, 24)).toEqual([2, 3]);
    expect(await page(2, 25)).toEqual([3, 4, 5]);
  });

  it('shares the rows of all runs that own them when a fork is forked', async () => {
    await log().append(creation(runA, { rows: ten }));
    await log().fork(forkOf(runA, 4));
    await log().append({
      runId: fork1,
      rows: [row('own', { payload: '{"n":40}' }), row('own', { payload: '{"n":50}' })],
    });
    const first = await rowsOf(store(), fork1);
    for (const [i, fromSeq] of [0, 1, 3, 4, 5, 6].entries()) {
      const runId = `run_g${i}` as RunId;
      await log().fork(forkOf(fork1, fromSeq, { runId, contextId: `ctx_g${i}` as ContextId }));
      const { cursor } = await log().append({ runId, rows: [row('last')] });
      const found = await rowsOf(store(), runId);
      expect(found.slice(0, -1).map(shared)).toEqual(first.slice(0, fromSeq).map(shared));
      expect(found.at(-1)).toMatchObject({ runId, seq: fromSeq, cursor, type: 'last' });
      expect(verifyChain(found, runA)).toBeNull();
      expect(await log().read({ contextId: `ctx_g${i}` as ContextId, afterCursor: 0, limit: 99 })).toEqual(found);
    }
    expect(await rowsOf(store(), fork1)).toEqual(first);
  });

  it('merges the forks of a tree into one context, in the order in which their rows were written', async () => {
    await log().append(creation(runA, { rows: ten.slice(0, 3) }));
    await log().append(creation(runB, { rows: ten.slice(0, 3) }));
    await log().append({ runId: runA, rows: ten.slice(3, 5) });
    await log().append({ runId: runB, rows: ten.slice(3, 5) });
    await log().fork(forkOf(runA, 5));
    await log().fork(forkOf(runB, 4, { runId: fork2, originRunId: runB, parentRunId: fork1 }));
    await log().append({ runId: fork2, rows: [row('own')] });
    await log().append({ runId: fork1, rows: [row('own')] });
    const all = await log().read({ contextId: apart, afterCursor: 0, limit: 99 });
    expect(all.map(({ runId, seq }) => `${runId}:${seq}`)).toEqual([
      ...[0, 1, 2].map((seq) => `${fork1}:${seq}`),
      ...[0, 1, 2].map((seq) => `${fork2}:${seq}`),
      ...[3, 4].map((seq) => `${fork1}:${seq}`),
      `${fork2}:3`,
      `${fork2}:4`,
      `${fork1}:5`,
    ]);
    for (const [i, { cursor }] of all.entries()) {
      expect(await log().read({ contextId: apart, afterCursor: cursor, limit: 2 })).toEqual(all.slice(i + 1, i + 3));
    }
    expect(await store().contexts.tenant(apart)).toBe('t');
  });

  it('is no change of the log, but its own rows are', async () => {
    await log().append(creation(runA, { rows: ten }));
    const end = await store().changes.end();
    await log().fork(forkOf(runA, 7));
    expect(await store().changes.read({ after: end, limit: 100, filter: null })).toEqual({ rows: [], position: end });
    await log().append({ runId: fork1, rows: [row('own')] });
    for (const filter of [null, { tenant: 't', types: ['own', 'a', 'b'] }]) {
      const { rows } = await store().changes.read({ after: end, limit: 100, filter });
      expect(rows).toMatchObject([{ runId: fork1, contextId: apart, seq: 7 }]);
    }
    const { rows: all } = await store().changes.read({ after: '0', limit: 100, filter: null });
    expect(all.map(({ runId, seq }) => `${runId}:${seq}`)).toEqual([
      ...ten.map((_, seq) => `${runA}:${seq}`),
      `${fork1}:7`,
    ]);
  });

  it('counts no bytes of shared rows', async () => {
    await log().append(creation(runA, { rows: ten }));
    const before = await store().runIndex.tenantLogBytes('t');
    await log().fork(forkOf(runA, 7));
    expect(await store().runIndex.tenantLogBytes('t')).toBe(before);
    await log().append({ runId: fork1, rows: [row('own')] });
    const after = await store().runIndex.tenantLogBytes('t');
    expect(after).toBeGreaterThan(before);
    await log().append({ runId: runA, rows: [row('own')] });
    expect(await store().runIndex.tenantLogBytes('t')).toBe(after + (after - before));
  });
}

function ownRows(store: () => Ports<Forks>): void {
  const log = () => store().log;

  it('begins with the rows that it is given, in the same commit', async () => {
    await log().append(creation(runA, { rows: ten }));
    const told: string[][] = [];
    const unfollow = log().follow(({ runId, rows }) => void told.push([runId, ...rows.map(({ type }) => type)]));
    const rows = [row('own', { at: 5000 }), row('own.too', { at: 5000 })];
    await log().fork({ ...forkOf(runA, 6), rows });
    unfollow();
    const found = await rowsOf(store(), fork1);
    expect(found.slice(6).map(({ seq, type, at }) => [seq, type, at])).toEqual([
      [6, 'own', 5000],
      [7, 'own.too', 5000],
    ]);
    expect(told).toEqual([[fork1, 'own', 'own.too']]);
    expect(await log().head(fork1)).toMatchObject({ seq: 7, owner: null });
  });

  it('does not exist if its first rows are refused', async () => {
    await log().append(creation(runA, { rows: ten }));
    const large = row('own', { payload: JSON.stringify({ text: 'x'.repeat(1_200_000) }) });
    await expect(log().fork({ ...forkOf(runA, 6), rows: [large] })).rejects.toThrow();
    expect(await log().head(fork1)).toBeNull();
  });

  it.each([0, 1, 5, 10])('continues seq and hash chain of the source after a cut at %i', async (fromSeq) => {
    await log().append(creation(runA, { rows: ten }));
    const source = await rowsOf(store(), runA);
    await log().fork(forkOf(runA, fromSeq));
    const head = present(await log().head(fork1));
    expect(head).toMatchObject({ seq: fromSeq - 1, fence: 0, owner: null });
    if (fromSeq > 0) expect(head.hash).toBe(source[fromSeq - 1]?.hash);
    await expect(log().append({ runId: fork1, at: fromSeq + 1, rows: [row('x')] })).rejects.toMatchObject({
      code: 'conflict',
    });
    // The very row of the source at the same place has the same hash.
    const [next = row('x', { payload: '{"n":10}' })] = ten.slice(fromSeq);
    const appended = await log().append({ runId: fork1, at: fromSeq, rows: [next] });
    expect(appended.seq).toBe(fromSeq);
    expect(appended.cursor).toBeGreaterThan(present(source.at(-1)).cursor);
    const found = await rowsOf(store(), fork1);
    expect(found.length).toBe(fromSeq + 1);
    expect(verifyChain(found, runA)).toBeNull();
    if (fromSeq < ten.length) expect(found.at(-1)?.hash).toBe(source[fromSeq]?.hash);
    expect((await log().head(fork1))?.hash).toBe(found.at(-1)?.hash);
    expect(await rowsOf(store(), runA)).toEqual(source);
  });

  it('does not see what the source writes after the fork', async () => {
    await log().append(creation(runA, { rows: ten.slice(0, 4) }));
    await log().fork(forkOf(runA, 4));
    await log().append({ runId: runA, rows: ten.slice(4) });
    expect(seqs(await rowsOf(store(), fork1))).toEqual([0, 1, 2, 3]);
    expect(seqs(await log().read({ contextId: apart, afterCursor: 0, limit: 99 }))).toEqual([0, 1, 2, 3]);
    await log().append({ runId: fork1, rows: [row('own')] });
    expect((await rowsOf(store(), fork1)).map(({ type }) => type)).toEqual(['run.started', 'a', 'b', 'c', 'own']);
    expect(seqs(await rowsOf(store(), runA))).toEqual(ten.map((_, seq) => seq));
  });

  it('is due at once, and its writer is fenced', async () => {
    await log().append(creation(runA, { rows: ten, claim: lease('n1') }));
    await log().fork(forkOf(runA, 7));
    expect(await store().queue.due()).toBe(9_000);
    const claims = await store().queue.claim({ owner: 'n2', now: 9_000, until: 20_000, limit: 9 });
    expect(claims).toEqual([{ runId: fork1, tenant: 't', fence: 1 }]);
    await log().append({ runId: fork1, fence: 1, rows: [row('own')] });
    await expect(log().append({ runId: fork1, fence: 0, rows: [row('x')] })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect((await log().head(runA))?.owner).toBe('n1');
  });

  it('tells followers of its own rows only', async () => {
    await log().append(creation(runA, { rows: ten }));
    const heard: string[] = [];
    log().follow(({ runId, contextId, rows }) => heard.push(`${runId} ${contextId} ${seqs(rows).join()}`));
    await log().fork(forkOf(runA, 7));
    await log().append({ runId: fork1, rows: [row('own'), row('own')] });
    expect(heard).toEqual([`${fork1} ${apart} 7,8`]);
  });

  it('has ended, and is never due, when the shared rows end with an end', async () => {
    await log().append(creation(runA, { rows: [...ten, row('run.completed', { at: 2_000 })] }));
    await log().fork(forkOf(runA, 11));
    expect(await log().head(fork1)).toMatchObject({ seq: 10, record: { status: 'completed', endedAt: 2_000 } });
    expect(await store().queue.due()).toBeNull();
    await expect(log().append({ runId: fork1, rows: [row('x')] })).rejects.toMatchObject({ code: 'run_terminal' });
    await log().fork(forkOf(runA, 10, { runId: fork2, contextId: third }));
    expect(await log().head(fork2)).toMatchObject({ seq: 9, record: { status: 'running', endedAt: null } });
  });
}

function refusals(store: () => Ports<Forks>): void {
  const log = () => store().log;

  it.each<[string, ForkRun, string]>([
    ['an unknown source', forkOf(runB, 1), 'not_found'],
    ["another tenant's source", forkOf(runA, 1, { tenant: 'other' }), 'not_found'],
    ['a cut beyond the end', forkOf(runA, 11), 'invalid_from_seq'],
    ['a run that exists', forkOf(runA, 1, { runId: runA }), 'conflict'],
    ['a context that shows the rows already', forkOf(runA, 1, { contextId: context }), 'conflict'],
  ])('refuses %s, and leaves nothing', async (_, run, code) => {
    await log().append(creation(runA, { rows: ten }));
    await expect(log().fork(run)).rejects.toMatchObject({ code });
    expect(await log().head(fork1)).toBeNull();
    expect((await store().runIndex.list({ tenant: 't', limit: 9 })).runs.map(({ runId }) => runId)).toEqual([runA]);
    expect(await store().contexts.tenant(apart)).toBeNull();
    await expect(log().fork(forkOf(runA, 10))).resolves.toBeUndefined();
  });

  it("refuses a context of another tenant's runs, and a second fork of one run into a context", async () => {
    await log().append(creation(runA, { rows: ten }));
    await log().append(creation(runB, { create: { tenant: 'other', contextId: third, originRunId: runB } }));
    await expect(log().fork(forkOf(runA, 1, { contextId: third }))).rejects.toMatchObject({
      code: 'conflict',
      message: /another tenant/,
    });
    await log().fork(forkOf(runA, 3));
    await expect(log().fork(forkOf(runA, 5, { runId: fork2 }))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('refuses to fork an imported run', async () => {
    await log().append(creation(runA, { rows: ten }));
    const rows = await rowsOf(store(), runA);
    const { seq, hash } = present(rows.at(-1));
    const imported = { runId: runB, tenant: 't', contextId: context, originRunId: runA, importedAt: 9, seq, hash };
    await log().importRun(imported, ten);
    await expect(log().fork(forkOf(runB, 3))).rejects.toMatchObject({ code: 'run_imported' });
  });

  it('records the request that caused it, once', async () => {
    await log().append(creation(runA, { rows: ten }));
    const record = {
      tenant: 't',
      endpoint: 'POST /v1/runs/{runId}:fork',
      key: 'k',
      requestDigest: 'd',
      state: 'completed' as const,
      owner: null,
      until: null,
      status: 201,
      headers: '{}',
      body: '{}',
      at: 9_000,
    };
    const idempotency = [{ record, owner: null }];
    await log().fork(forkOf(runA, 3, { idempotency }));
    const second = forkOf(runA, 3, { runId: fork2, contextId: third, idempotency });
    await expect(log().fork(second)).rejects.toMatchObject({ code: 'conflict' });
    expect(await log().head(fork2)).toBeNull();
  });
}
