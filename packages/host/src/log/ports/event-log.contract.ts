/** What every event log promises, whatever keeps it. */

import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { appendContract } from './append.contract.ts';
import { contextRowsContract } from './context-rows.contract.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { type Commit, type EventLog, MAX_PAGE_BYTES } from './event-log.ts';
import { forkContract } from './fork.contract.ts';
import type { Forks } from './fork-samples.kit.ts';
import { importContract } from './import.contract.ts';
import type { Row } from './rows.ts';
import { context, creation, lease, row, runA, runB, started } from './samples.kit.ts';
import { scopeContract } from './scope.contract.ts';

export function eventLogContract(open: Open<Forks>): void {
  describe('appends', () => appendContract(open));
  describe('reads and followers', () => readContract(open));
  describe('pages of a context', () => contextRowsContract(open));
  describe('imported runs', () => importContract(open));
  describe('scopes', () => scopeContract(open));
  describe('forks', () => forkContract(open));
}

function readContract(open: Open<'log'>): void {
  const store = eachStore(open);
  const log = () => store().log;
  describe('reads', () => reads(log));
  describe('followers', () => followers(log));
}

function reads(log: () => EventLog): void {
  it('reads a run in pages and can leave operator rows out', async () => {
    const rows = [
      started(),
      row('a', { audience: 'operator' }),
      row('b'),
      row('c', { audience: 'operator' }),
      row('d'),
    ];
    await log().append(creation(runA, { rows }));
    const page = async (after: number, limit: number, audience?: 'client') =>
      (await log().read({ runId: runA, after, limit, audience })).map((r) => r.seq);
    expect(await page(-1, 2)).toEqual([0, 1]);
    expect(await page(1, 10)).toEqual([2, 3, 4]);
    expect(await page(0, 2, 'client')).toEqual([2, 4]);
    expect(await page(4, 10)).toEqual([]);
    expect(await log().read({ runId: runB, after: -1, limit: 10 })).toEqual([]);
  });

  it('reads a context by cursor over all its runs, and no other context', async () => {
    const elsewhere = 'ctx_two' as ContextId;
    await log().append(creation(runA));
    await log().append(
      creation('run_x' as RunId, { create: { tenant: 't', contextId: elsewhere, originRunId: runA } }),
    );
    await log().append(creation(runB));
    const { cursor } = await log().append({ runId: runA, rows: [row('a'), row('b', { audience: 'operator' })] });
    const all = await log().read({ contextId: context, afterCursor: 0, limit: 10 });
    expect(all.map((r) => `${r.runId}:${r.seq}`)).toEqual(['run_a:0', 'run_b:0', 'run_a:1', 'run_a:2']);
    expect(all.map((r) => r.cursor)).toEqual(all.map((r) => r.cursor).toSorted((a, b) => a - b));
    expect(all.at(-1)?.cursor).toBe(cursor);
    const later = await log().read({ contextId: context, afterCursor: present(all[0]).cursor, limit: 2 });
    expect(later).toEqual(all.slice(1, 3));
    const visible = await log().read({ contextId: context, afterCursor: 0, limit: 10, audience: 'client' });
    expect(visible).toEqual(all.slice(0, 3));
  });

  it('ends a page after the row that takes it past its size, and gives at least one', async () => {
    const rows = [started(), ...Array.from({ length: 6 }, () => row('a', { payload: '"12345678"', task: '{}' }))];
    await log().append(creation(runA, { rows }));
    for (const place of [
      { runId: runA, after: 0 },
      { contextId: context, afterCursor: 0 },
    ]) {
      const first = await log().read({ ...place, limit: 10, maxBytes: 1 });
      expect(first.length).toBe(1);
    }
    const seqs = async (maxBytes: number) =>
      (await log().read({ runId: runA, after: 0, limit: 5, maxBytes })).map((stored) => stored.seq);
    expect(await seqs(24)).toEqual([1, 2]);
    expect(await seqs(25)).toEqual([1, 2, 3]);
    expect(await seqs(1_000)).toEqual([1, 2, 3, 4, 5]);
  });

  it('bounds a page that names no size, or a larger one than a page may have', async () => {
    const large = row('a', { payload: JSON.stringify('x'.repeat(MAX_PAGE_BYTES / 2)) });
    await log().append(creation(runA, { rows: [started(), large, large, large, large] }));
    for (const maxBytes of [undefined, 100 * MAX_PAGE_BYTES]) {
      const ofRun = await log().read({ runId: runA, after: -1, limit: 100, maxBytes });
      expect(ofRun.map(({ seq }) => seq)).toEqual([0, 1, 2]);
      const ofContext = await log().read({ contextId: context, afterCursor: 0, limit: 100, maxBytes });
      expect(ofContext.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    }
  });

  it('reads everything once, however many readers there are and however large the rows', async () => {
    const large = row('a', { payload: JSON.stringify('x'.repeat(MAX_PAGE_BYTES / 4)) });
    await log().append(creation(runA, { rows: [started(), ...Array.from({ length: 12 }, () => large)] }));
    const all = Array.from({ length: 13 }, (_, seq) => seq);
    const readers = Array.from({ length: 8 }, async () => (await rowsOf({ log: log() }, runA)).map(({ seq }) => seq));
    expect(await Promise.all(readers)).toEqual(readers.map(() => all));
  });

  it('shows the head a run has', async () => {
    const { fence } = await log().append(creation(runA, { claim: lease('n1') }));
    await log().append({ runId: runA, fence, rows: [row('a')] });
    const [, last] = await log().read({ runId: runA, after: -1, limit: 9 });
    expect(await log().head(runA)).toMatchObject({
      seq: 1,
      hash: present(last).hash,
      fence,
      record: { status: 'running' },
    });
  });
}

function followers(log: () => EventLog): void {
  it('tells of every commit once, in commit order, after it can be read and before its append resolves', async () => {
    const heard: Commit[] = [];
    const readable: Promise<readonly Row[]>[] = [];
    const stop = log().follow((commit) => {
      heard.push(commit);
      readable.push(
        log().read({ runId: commit.runId, after: present(commit.rows[0]).seq - 1, limit: commit.rows.length }),
      );
    });
    await log().append(creation(runA, { rows: [started(), row('a')] }));
    expect(heard.length).toBe(1);
    await Promise.all([log().append(creation(runB)), log().append({ runId: runA, rows: [row('b')] })]);
    stop();
    await log().append({ runId: runA, rows: [row('unheard')] });
    expect(heard.map((c) => [c.runId, c.contextId, c.rows.map((r) => r.seq)])).toEqual([
      [runA, context, [0, 1]],
      [runB, context, [0]],
      [runA, context, [2]],
    ]);
    expect(await Promise.all(readable)).toEqual(heard.map((commit) => commit.rows));
  });

  it('tells nothing of an append that was refused', async () => {
    await log().append(creation(runA));
    const heard: Commit[] = [];
    log().follow((commit) => heard.push(commit));
    await expect(log().append({ runId: runA, at: 9, rows: [row('a')] })).rejects.toThrow();
    expect(heard).toEqual([]);
  });
}
