/** What every run index promises of a row of the list: what the run is about, who works, what it waits for and used. */
import type { JsonObject } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { noSummary } from '../run-summary.ts';
import type { Ports } from './contract.kit.ts';
import type { NewRow } from './rows.ts';
import { creation, resolved, row, runA, runB, started } from './samples.kit.ts';

const used = (payload: JsonObject): NewRow =>
  row('provider.usage', { nodeId: 'n', payload: JSON.stringify({ provider: 'p', model: 'm', ...payload }) });

const works = (agentId: string): NewRow =>
  row('agent.invocation.started', { nodeId: 'n', payload: JSON.stringify({ invocationId: 'i', agentId }) });

const askedFor = (interruptId: string, prompt: string): NewRow =>
  row('interrupt.requested', {
    nodeId: interruptId,
    payload: JSON.stringify({ interruptId, kind: 'clarification', nodeId: interruptId, data: { prompt } }),
  });

export function runSummaryContract(store: () => Ports<'log' | 'runIndex'>): void {
  const log = () => store().log;
  /** What the list says, which a rebuild must not change. */
  const listed = async () => {
    const { runs } = await store().runIndex.list({ tenant: 't', limit: 9 });
    expect(await store().runIndex.rebuild()).toEqual({ runs: runs.length, repaired: 0 });
    expect(await store().runIndex.list({ tenant: 't', limit: 9 })).toMatchObject({ runs });
    return runs.map(({ summary }) => summary);
  };

  it('is empty for a run that says nothing of itself', async () => {
    await log().append(creation(runA));
    expect(await listed()).toEqual([noSummary]);
  });

  it('has the title of the run, or its most telling input, in one line, and never a sensitive one', async () => {
    const agents = { 'a:1': { hash: 'h' }, 'a:2': { hash: 'h' } };
    const metadata = { title: ' A\n title\u202e ' };
    await log().append(creation(runA, { rows: [started({ metadata, inputs: { topic: 'x' }, agents })] }));
    const inputs = { title: 'secret', n: 1, topic: 'y'.repeat(500), other: 'z' };
    const actsAs = { agentId: 'a:2' };
    await log().append(creation(runB, { rows: [started({ inputs, sensitive: ['title'], agents, actsAs })] }));
    expect(await listed()).toEqual([
      { ...noSummary, title: `${'y'.repeat(159)}…`, titleInput: 'topic', agents: ['a:2'] },
      { ...noSummary, title: 'A title' },
    ]);
  });

  it('names the agents that began to work, each once and the first of them first, not those that it could ask', async () => {
    const agents = { 'a:1': { hash: 'h' }, 'a:2': { hash: 'h' }, 'a:3': { hash: 'h' } };
    await log().append(creation(runA, { rows: [started({ agents })] }));
    const named = async () => (await listed()).map((summary) => summary.agents);
    expect(await named()).toEqual([[]]);
    await log().append({ runId: runA, rows: [works('a:3')] });
    expect(await named()).toEqual([['a:3']]);
    await log().append({ runId: runA, rows: [works('a:1'), works('a:3'), works('a:1')] });
    expect(await named()).toEqual([['a:3', 'a:1']]);
    const many = Array.from({ length: 9 }, (_, at) => `b:${at}`);
    await log().append({ runId: runA, rows: many.map(works) });
    expect(await named()).toEqual([['a:3', 'a:1', ...many.slice(0, 6)]]);
  });

  it('adds up what models used, in dollars alone, until the run ends', async () => {
    await log().append(creation(runA));
    await log().append({ runId: runA, rows: [used({ inputTokens: 3, outputTokens: 4, costEstimateUsd: 0.5 })] });
    const euros = { inputTokens: 1, outputTokens: 1, costEstimateUsd: 9, currency: 'EUR' };
    await log().append({ runId: runA, rows: [used(euros), row('node.started', { nodeId: 'n' }), used({})] });
    const sum = { ...noSummary, inputTokens: 4, outputTokens: 5, costUsd: 0.5 };
    expect(await listed()).toEqual([sum]);
    await log().append({ runId: runA, rows: [row('run.completed')] });
    expect(await listed()).toEqual([sum]);
  });

  it('has the words of the oldest open question, and nothing once none waits', async () => {
    await log().append(creation(runA, { rows: [started(), askedFor('i1', 'First?'), askedFor('i2', 'Second?')] }));
    const waitingOn = async () => (await listed()).map((summary) => summary.waitingOn);
    expect(await waitingOn()).toEqual(['First?']);
    expect(await store().runIndex.interrupts(runA)).toMatchObject([{ title: 'First?' }, { title: 'Second?' }]);
    await log().append({ runId: runA, rows: [row('run.paused')] });
    await log().append({ runId: runA, answers: 'i1', rows: [resolved('i1')] });
    expect(await waitingOn()).toEqual(['Second?']);
    await log().append({ runId: runA, rows: [row('run.cancelled')] });
    expect(await waitingOn()).toEqual([null]);
  });
}
