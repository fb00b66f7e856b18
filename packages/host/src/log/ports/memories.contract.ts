/** What every store promises of memories: versions by the place of their rows, and one tenant's only. */

import type { RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { inMemoryStore } from '../in-memory/store.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { forkedMemoriesContract } from './forked-memories.contract.ts';
import { childOf, dropped, found, ids, kept, NOW, notes, ofTenant, type WithMemories } from './memory-samples.kit.ts';
import { memorySearchContract } from './memory-search.contract.ts';
import { context, creation, row, runA, runB, started } from './samples.kit.ts';

export function memoriesContract(open: Open<'log' | 'runIndex' | 'memories'>): void {
  const store = eachStore(open);
  describe('entries', () => entries(store));
  describe('what a run sees', () => asOfRuns(store));
  describe('what a fork sees', () => forkedMemoriesContract(store));
  describe('tenants', () => tenants(store));
  describe('search', () => memorySearchContract(store));
}

function entries(store: () => WithMemories): void {
  it('are there once their rows are, newest first, as they were kept', async () => {
    expect(await ids(store())).toEqual([]);
    const text = 'é 😀 "quoted" \u0000 {json}\n';
    await store().log.append(
      creation(runA, {
        rows: [started(), kept('a', { content: text, tags: ['x', 'y'], expiresAt: 9_000 }), kept('b')],
      }),
    );
    expect(await store().memories.list(notes())).toEqual([
      { id: 'b', content: 'content of b', tags: [], createdAt: 1_000, expiresAt: null },
      { id: 'a', content: text, tags: ['x', 'y'], createdAt: 1_000, expiresAt: 9_000 },
    ]);
    expect(await ids(store(), { limit: 1 })).toEqual(['b']);
    expect(await store().memories.get(notes(), 'a')).toMatchObject({ id: 'a', content: text });
    expect(await store().memories.get(notes(), 'nobody')).toBeNull();
  });

  it('are not there when their append was refused', async () => {
    await store().log.append(creation(runA));
    await expect(store().log.append({ runId: runA, at: 7, rows: [kept('a')] })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await ids(store())).toEqual([]);
    expect(await found(store(), 'content')).toEqual([]);
  });

  it('stay as they were kept first, however often their row is repeated', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a', { content: 'first words' })] }));
    await store().log.append({ runId: runA, rows: [kept('a', { content: 'second words' })] });
    await store().log.append({ runId: runA, rows: [dropped('a')] });
    await store().log.append({ runId: runA, rows: [kept('a', { content: 'third words' })] });
    expect(await ids(store())).toEqual([]);
    const before = { ...notes(), asOf: { runId: runA, beforeSeq: 3, turn: 'other' } };
    expect(await store().memories.list(before)).toMatchObject([{ id: 'a', content: 'first words' }]);
  });

  it('are chosen by one of their tags', async () => {
    const rows = [kept('a', { tags: ['red'] }), kept('b', { tags: ['red', 'blue', 'red'] }), kept('c')];
    await store().log.append(creation(runA, { rows: [started(), ...rows] }));
    expect(await ids(store(), { tag: 'red' })).toEqual(['b', 'a']);
    expect(await ids(store(), { tag: 'red', limit: 1 })).toEqual(['b']);
    expect(await ids(store(), { tag: 're' })).toEqual([]);
    expect(await found(store(), 'content', { tag: 'blue' })).toEqual(['b']);
    expect(await found(store(), 'content', { tag: 're' })).toEqual([]);
  });

  it('never surface once they have expired', async () => {
    const rows = [kept('a', { expiresAt: NOW }), kept('b', { expiresAt: NOW + 1 })];
    await store().log.append(creation(runA, { rows: [started(), ...rows] }));
    expect(await ids(store())).toEqual(['b']);
    expect(await found(store(), 'content')).toEqual(['b']);
    expect(await store().memories.get(notes(), 'a')).toBeNull();
    expect(await ids(store(), { now: NOW - 1 })).toEqual(['b', 'a']);
  });

  it('are the same after a rebuild', async () => {
    await store().log.append(
      creation(runA, { rows: [started(), kept('a', { tags: ['x'] }), kept('b'), dropped('b')] }),
    );
    expect(await store().runIndex.rebuild()).toEqual({ runs: 1, repaired: 0 });
    expect(await ids(store(), { tag: 'x' })).toEqual(['a']);
    expect(await found(store(), 'content')).toEqual(['a']);
  });
}

function asOfRuns(store: () => WithMemories): void {
  const at = (runId: RunId, beforeSeq: number, turn = 'now') => ({ asOf: { runId, beforeSeq, turn } });

  it('is what was there when it began, whatever others keep or drop meanwhile', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a'), kept('b'), dropped('b')] }));
    await store().log.append(creation(runB));
    await store().log.append({ runId: runA, rows: [kept('c'), dropped('a')] });
    expect(await ids(store())).toEqual(['c']);
    expect(await ids(store(), at(runB, 9))).toEqual(['a']);
    expect(await found(store(), 'content', at(runB, 9))).toEqual(['a']);
    expect(await store().memories.get({ ...notes(), ...at(runB, 9) }, 'c')).toBeNull();
  });

  it('is also what it kept and dropped itself before this row, but in the same turn', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('old')] }));
    await store().log.append(creation(runB));
    await store().log.append({ runId: runB, rows: [kept('one', { turn: 't1' }), dropped('old', 't1')] });
    await store().log.append({ runId: runB, rows: [kept('two', { turn: 't2' })] });
    expect(await ids(store(), at(runB, 1, 't1'))).toEqual(['old']);
    expect(await ids(store(), at(runB, 3, 't1'))).toEqual(['old']);
    expect(await ids(store(), at(runB, 3, 't2'))).toEqual(['one']);
    expect(await ids(store(), at(runB, 4, 't2'))).toEqual(['one']);
    expect(await ids(store(), at(runB, 4, 't3'))).toEqual(['two', 'one']);
  });

  it('is also what runs below it kept and dropped, once they have ended, and from its next row on', async () => {
    const [top, below, deeper] = [runA, 'run_a.0' as RunId, 'run_a.0.0' as RunId];
    await store().log.append(creation(top, { rows: [started(), kept('mine')] }));
    await store().log.append(childOf(top, below));
    await store().log.append(childOf(below, deeper));
    await store().log.append({ runId: deeper, rows: [kept('deep')] });
    await store().log.append({ runId: below, rows: [kept('under'), dropped('mine')] });
    await store().log.append({ runId: top, rows: [row('node.started')] });
    expect(await ids(store(), at(top, 9))).toEqual(['mine']);
    await store().log.append({ runId: deeper, rows: [row('run.failed')] });
    await store().log.append({ runId: top, rows: [row('node.started')] });
    expect(await ids(store(), at(top, 2))).toEqual(['mine']);
    expect(await ids(store(), at(top, 3))).toEqual(['deep', 'mine']);
    await store().log.append({ runId: below, rows: [row('run.completed')] });
    expect(await ids(store(), at(top, 3))).toEqual(['deep', 'mine']);
    expect(await ids(store(), at(top, 4))).toEqual(['under', 'deep']);
    expect(await found(store(), 'content', at(top, 4))).toHaveLength(2);
    expect(await store().memories.get({ ...notes(), ...at(top, 4) }, 'mine')).toBeNull();
  });

  it('is nothing of runs above it or beside it after it began, whether they have ended or not', async () => {
    const [first, second] = ['run_a.0' as RunId, 'run_a.1' as RunId];
    await store().log.append(creation(runA, { rows: [started(), kept('before')] }));
    await store().log.append(childOf(runA, first));
    await store().log.append(childOf(runA, second));
    await store().log.append({ runId: runA, rows: [kept('above')] });
    await store().log.append({ runId: first, rows: [kept('beside'), row('run.completed')] });
    await store().log.append(creation(runB, { rows: [started(), kept('elsewhere'), row('run.completed')] }));
    expect(await ids(store(), at(second, 9))).toEqual(['before']);
    await store().log.append(childOf(runA, 'run_a.2' as RunId));
    expect(await ids(store(), at('run_a.2' as RunId, 9))).toEqual(['elsewhere', 'beside', 'above', 'before']);
  });

  it('is, without a turn, all that lay before the row, whatever came later', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a'), kept('b'), dropped('a')] }));
    const before = (beforeSeq: number) => ({ asOf: { runId: runA, beforeSeq } });
    expect(await ids(store(), before(1))).toEqual([]);
    expect(await ids(store(), before(2))).toEqual(['a']);
    expect(await ids(store(), before(3))).toEqual(['b', 'a']);
    expect(await ids(store(), before(4))).toEqual(['b']);
  });

  it('is nothing for a run that the tenant does not have', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a')] }));
    await store().log.append(ofTenant(runB, 'other', [started()]));
    expect(await ids(store(), at('run_nobody' as RunId, 9))).toEqual([]);
    expect(await ids(store(), at(runB, 9))).toEqual([]);
  });
}

function tenants(store: () => WithMemories): void {
  it('see only their own, also under the same reference and id', async () => {
    await store().log.append(creation(runA, { rows: [started(), kept('a', { content: 'mine' })] }));
    await store().log.append(ofTenant(runB, 'other', [started(), kept('a', { content: 'theirs' }), dropped('a')]));
    expect(await store().memories.list(notes())).toMatchObject([{ content: 'mine' }]);
    expect(await ids(store(), { tenant: 'other' })).toEqual([]);
    expect(await ids(store(), { tenant: 'nobody' })).toEqual([]);
    expect(await ids(store(), { memoryRef: 'notes/../notes' })).toEqual([]);
    expect(await found(store(), 'theirs')).toEqual([]);
  });

  it('get nothing out of a run that was imported, nor out of a rebuild after it', async () => {
    const source = inMemoryStore();
    await source.log.append(creation(runA, { rows: [started(), kept('a')] }));
    const { hash, seq } = present(await source.log.head(runA));
    const run = { runId: runA, tenant: 't', contextId: context, originRunId: runA, importedAt: 9, seq, hash };
    await store().log.importRun(run, [started(), kept('a')]);
    expect(await ids(store())).toEqual([]);
    await store().runIndex.rebuild();
    expect(await ids(store())).toEqual([]);
    expect(await ids(source)).toEqual(['a']);
  });
}
