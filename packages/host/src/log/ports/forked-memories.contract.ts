/** What every store promises of the memories of a fork: it sees them as they were at the cut. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { fork1, fork2, forkOf, third } from './fork-samples.kit.ts';
import { childOf, dropped, found, ids, kept, notes, type WithMemories } from './memory-samples.kit.ts';
import { creation, row, runA, runB, started } from './samples.kit.ts';

const at = (runId: RunId, beforeSeq: number, turn = 'now') => ({ asOf: { runId, beforeSeq, turn } });

export function forkedMemoriesContract(store: () => WithMemories): void {
  const log = () => store().log;

  it('are those of its source at the cut, and then its own', async () => {
    await log().append(creation(runB, { rows: [started(), kept('before', { tags: ['x'] })] }));
    await log().append(creation(runA, { rows: [started(), kept('shared', { tags: ['x'] }), row('a')] }));
    await log().append({ runId: runB, rows: [kept('meanwhile')] });
    await log().append({ runId: runA, rows: [kept('later'), dropped('shared')] });
    await log().fork(forkOf(runA, 3));
    expect(await ids(store(), at(fork1, 9))).toEqual(['shared', 'before']);
    expect(await ids(store(), { ...at(fork1, 9), tag: 'x' })).toEqual(['shared', 'before']);
    expect(await found(store(), 'content', at(fork1, 9))).toHaveLength(2);
    expect(await store().memories.get({ ...notes(), ...at(fork1, 9) }, 'later')).toBeNull();
    await log().append({ runId: fork1, rows: [kept('own', { turn: 't7' }), dropped('before', 't7')] });
    expect(await ids(store(), at(fork1, 9))).toEqual(['own', 'shared']);
    expect(await ids(store(), at(fork1, 9, 't7'))).toEqual(['shared', 'before']);
    expect(await ids(store(), at(fork1, 4))).toEqual(['own', 'shared', 'before']);
    expect(await ids(store(), at(fork1, 2))).toEqual(['shared', 'before']);
    expect(await ids(store(), at(fork1, 1))).toEqual(['before']);
    expect(await ids(store(), at(runA, 9))).toEqual(['later', 'before']);
  });

  it('are, for a fork at 0, those from when its source began', async () => {
    await log().append(creation(runB, { rows: [started(), kept('before')] }));
    await log().append(creation(runA, { rows: [started(), kept('shared')] }));
    await log().append({ runId: runB, rows: [kept('meanwhile')] });
    await log().fork({ ...forkOf(runA, 0), rows: [started()] });
    expect(await ids(store(), at(fork1, 9))).toEqual(['before']);
    await log().append({ runId: fork1, rows: [kept('own')] });
    expect(await ids(store(), at(fork1, 9))).toEqual(['own', 'before']);
  });

  it('are what each of the runs had up to its cut, for a fork of a fork', async () => {
    await log().append(creation(runA, { rows: [started(), kept('a1'), kept('a2')] }));
    await log().fork(forkOf(runA, 2));
    await log().append({ runId: fork1, rows: [kept('f1'), kept('f2')] });
    await log().fork(forkOf(fork1, 3, { runId: fork2, contextId: third }));
    expect(await ids(store(), at(fork2, 9))).toEqual(['f1', 'a1']);
    await log().fork(forkOf(fork1, 1, { runId: 'run_f3' as RunId, contextId: 'ctx_f3' as ContextId }));
    expect(await ids(store(), at('run_f3' as RunId, 9))).toEqual([]);
  });

  it('are also those of runs below its source that ended before the cut, and of runs below itself', async () => {
    const [ended, open, own] = ['run_a.0', 'run_a.1', 'run_f1.2'] as [RunId, RunId, RunId];
    await log().append(creation(runA));
    await log().append({ ...childOf(runA, ended), rows: [started(), kept('ended'), row('run.completed')] });
    await log().append({ ...childOf(runA, open), rows: [started(), kept('open')] });
    await log().append({ runId: runA, rows: [row('a')] });
    await log().append({ runId: open, rows: [row('run.completed')] });
    await log().append({ runId: runA, rows: [row('b')] });
    await log().fork(forkOf(runA, 2));
    expect(await ids(store(), at(fork1, 9))).toEqual(['ended']);
    expect(await ids(store(), at(runA, 9))).toEqual(['open', 'ended']);
    await log().append({ ...childOf(fork1, own), rows: [started(), kept('below'), row('run.completed')] });
    expect(await ids(store(), at(fork1, 9))).toEqual(['below', 'ended']);
  });

  it('are nothing for another tenant', async () => {
    await log().append(creation(runA, { rows: [started(), kept('a')] }));
    await log().fork(forkOf(runA, 2));
    expect(await ids(store(), { ...at(fork1, 9), tenant: 'other' })).toEqual([]);
  });
}
