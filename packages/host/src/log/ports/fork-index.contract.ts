/** What every store promises of the run list and the inbox of a fork: the fold of all its rows. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import type { Ports } from './contract.kit.ts';
import { apart, type Forks, fork1, fork2, forkOf, seqs, ten, third } from './fork-samples.kit.ts';
import { asked, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

export function forkIndexContract(store: () => Ports<Forks>): void {
  const log = () => store().log;
  const runIndex = () => store().runIndex;

  it('is that of its source at the cut, with its own identity', async () => {
    await log().append(creation(runA, { rows: [...ten, row('run.completed')] }));
    await log().fork(forkOf(runA, 7, { parentRunId: runB }));
    const record = {
      runId: fork1,
      contextId: apart,
      originRunId: runA,
      parentRunId: runB,
      workflowId: 'wf',
      definitionHash: 'd1',
      principal: 'ada',
      tags: ['red'],
      status: 'waiting-approval',
      currentNodeId: 'gate',
      createdAt: 9_000,
      endedAt: null,
      fork: { sourceRunId: runA, fromSeq: 7, mode: 'branch' },
    };
    expect((await log().head(fork1))?.record).toMatchObject(record);
    const { runs } = await runIndex().list({ tenant: 't', tag: 'red', status: 'waiting-approval', limit: 9 });
    expect(runs).toMatchObject([record]);
    expect((await runIndex().list({ tenant: 't', limit: 9 })).runs.map(({ runId }) => runId)).toEqual([fork1, runA]);
    expect((await log().head(runA))?.record).toMatchObject({ status: 'completed', fork: null });
  });

  it('begins with the workflow of its source and nothing else when it is cut at the first row', async () => {
    await log().append(creation(runA, { rows: ten }));
    await log().fork(forkOf(runA, 0));
    const empty = { status: 'pending', workflowId: 'wf', definitionHash: 'd1', principal: 'ada', tags: [] };
    expect((await log().head(fork1))?.record).toMatchObject(empty);
    expect(await rowsOf(store(), fork1)).toEqual([]);
    expect(await log().read({ contextId: apart, afterCursor: 0, limit: 9 })).toEqual([]);
    expect(await store().contexts.tenant(apart)).toBe('t');
    expect(await runIndex().rebuild()).toEqual({ runs: 2, repaired: 0 });
    await log().append({ runId: fork1, at: 0, rows: [started({ tags: ['blue'] })] });
    expect((await log().head(fork1))?.record).toMatchObject({ status: 'running', tags: ['blue'], createdAt: 9_000 });
    expect((await runIndex().list({ tenant: 't', tag: 'blue', limit: 9 })).runs).toMatchObject([{ runId: fork1 }]);
  });

  it('is listed under the tags that it is given instead of those of its source, some of which it may keep', async () => {
    await log().append(creation(runA, { rows: [started({ tags: ['red', 'green'] }), row('a')] }));
    const payload = JSON.stringify({ overlay: { tags: ['green', 'blue', 'blue'] } });
    await log().fork(forkOf(runA, 2, { rows: [row('cairn.run.forked', { payload })] }));
    const under = async (tag: string) =>
      (await runIndex().list({ tenant: 't', tag, limit: 9 })).runs.map(({ runId }) => runId);
    expect([await under('red'), await under('green'), await under('blue')]).toEqual([[runA], [fork1, runA], [fork1]]);
  });

  it('has the summary of its source at the cut, and a title of its own if its inputs give one', async () => {
    const usage = row('provider.usage', { payload: JSON.stringify({ inputTokens: 2, outputTokens: 1 }) });
    const rows = [started({ inputs: { topic: 'boats', n: 'x' } }), usage, asked('q1'), usage, row('run.completed')];
    await log().append(creation(runA, { rows }));
    const overlay = { inputs: { topic: 'bridges', n: 'y' }, tags: ['blue'] };
    const first = row('cairn.run.forked', { payload: JSON.stringify({ overlay }) });
    await log().fork(forkOf(runA, 3, { rows: [first] }));
    await log().fork(forkOf(fork1, 4, { runId: fork2, contextId: third }));
    const [two, one] = (await runIndex().list({ tenant: 't', limit: 9 })).runs;
    const summary = { title: 'bridges', inputTokens: 2, outputTokens: 1, waitingOn: 'Answer needed: approval.' };
    expect([one, two]).toMatchObject([
      { runId: fork1, summary, tags: ['blue'] },
      { runId: fork2, summary, tags: ['blue'] },
    ]);
    expect(await runIndex().rebuild()).toEqual({ runs: 3, repaired: 0 });
  });

  it('has the open questions of its source, which are answered apart', async () => {
    await log().append(creation(runA, { rows: ten.slice(0, 7) }));
    await log().fork(forkOf(runA, 7));
    const inbox = async () =>
      (await runIndex().pending({ tenant: 't', limit: 9 })).interrupts.map((one) => `${one.runId} ${one.interruptId}`);
    expect(await inbox()).toEqual([`${runA} q1`, `${fork1} q1`]);
    await log().append({ runId: fork1, answers: 'q1', rows: [resolved('q1')] });
    expect(await inbox()).toEqual([`${runA} q1`]);
    expect((await log().head(runA))?.record.status).toBe('waiting-approval');
    expect((await log().head(fork1))?.record.status).toBe('running');
    await expect(log().append({ runId: fork1, answers: 'q1', rows: [resolved('q1')] })).rejects.toMatchObject({
      code: 'interrupt_already_resolved',
    });
    await log().append({ runId: runA, answers: 'q1', rows: [resolved('q1')] });
    expect(await inbox()).toEqual([]);
  });

  it('knows the questions that were answered before the cut, and those asked after it', async () => {
    await log().append(creation(runA, { rows: [...ten, asked('q2'), resolved('q2')] }));
    await log().fork(forkOf(runA, 9));
    await log().append({ runId: fork1, rows: [asked('q3')] });
    await log().fork(forkOf(fork1, 10, { runId: fork2, contextId: third }));
    for (const runId of [fork1, fork2]) {
      expect(await runIndex().interrupts(runId)).toMatchObject([
        { runId, interruptId: 'q1', open: false, seq: 5, votes: [] },
        { runId, interruptId: 'q3', open: true, seq: 9 },
      ]);
      const answer = (answers: string) => log().append({ runId, answers, rows: [resolved(answers)] });
      await expect(answer('q1')).rejects.toMatchObject({ code: 'interrupt_already_resolved' });
      await expect(answer('q2')).rejects.toMatchObject({ code: 'interrupt_not_found' });
    }
    expect(await runIndex().rebuild()).toEqual({ runs: 3, repaired: 0 });
  });

  it('keeps a vote that was cast before the cut', async () => {
    const vote = row('approval.received', {
      payload: JSON.stringify({ interruptId: 'q1', decidedBy: 'ada', action: 'accept' }),
    });
    await log().append(creation(runA, { rows: [started(), asked('q1'), vote, vote] }));
    await log().fork(forkOf(runA, 3));
    const votes = [{ principal: 'ada', action: 'accept' }];
    expect(await runIndex().interrupts(fork1)).toMatchObject([{ interruptId: 'q1', open: true, votes }]);
    expect(await runIndex().rebuild()).toEqual({ runs: 2, repaired: 0 });
  });

  it('asks nobody in a replay', async () => {
    await log().append(creation(runA, { rows: ten.slice(0, 7) }));
    await log().fork(forkOf(runA, 7, { mode: 'replay' }));
    await log().append({ runId: fork1, rows: [asked('q2')] });
    const { interrupts } = await runIndex().pending({ tenant: 't', limit: 9 });
    expect(interrupts.map(({ runId }) => runId)).toEqual([runA]);
    expect(await runIndex().interrupts(fork1)).toMatchObject([{ open: true }, { open: true }]);
    expect(await runIndex().rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect((await runIndex().pending({ tenant: 't', limit: 9 })).interrupts.length).toBe(1);
  });

  it('survives a rebuild, before and after own rows', async () => {
    await log().append(creation(runA, { rows: ten }));
    await log().fork(forkOf(runA, 7));
    const before = await log().head(fork1);
    expect(await runIndex().rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect(await log().head(fork1)).toEqual(before);
    await log().append({ runId: fork1, rows: [resolved('q1'), asked('q2'), row('own')] });
    const after = await log().head(fork1);
    expect(await runIndex().rebuild()).toEqual({ runs: 2, repaired: 0 });
    expect(await log().head(fork1)).toEqual(after);
  });

  it('takes the index from far before the cut, in a long run too', async () => {
    const many = (from: number) =>
      Array.from({ length: 700 }, (_, i) => row('log.appended', { payload: `{"i":${from + i}}` }));
    await log().append(creation(runA, { rows: [started(), asked('q1'), ...many(0)] }));
    await log().append({ runId: runA, rows: [...many(700), asked('q2')] });
    await log().append({ runId: runA, rows: [resolved('q1'), ...many(1_400)] });
    for (const [i, [fromSeq, open]] of [
      [1_402, 'q1'],
      [1_403, 'q1,q2'],
      [1_404, 'q2'],
      [2_100, 'q2'],
      [1, ''],
    ].entries()) {
      const runId = `run_g${i}` as RunId;
      await log().fork(forkOf(runA, Number(fromSeq), { runId, contextId: `ctx_g${i}` as ContextId }));
      const asking = (await runIndex().interrupts(runId)).filter((one) => one.open);
      expect(asking.map(({ interruptId }) => interruptId).join()).toBe(open);
      expect(seqs(await log().read({ runId, after: Number(fromSeq) - 2, limit: 9 }))).toEqual([Number(fromSeq) - 1]);
    }
    expect(await runIndex().rebuild()).toEqual({ runs: 6, repaired: 0 });
  });
}
