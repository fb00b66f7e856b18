/** A branch with one change, compared with its source: the diff names the first divergence and the changed decision. */
import type { DiffEntry, ForkRun, JsonObject, RunDiff } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clerk, openClerk } from './clerk.kit.ts';

let clerk: Clerk;
let source: string;
beforeAll(async () => {
  clerk = await openClerk();
  source = await clerk.approved('claim-a');
});
afterAll(() => clerk?.[Symbol.asyncDispose]());

const verdict = (words: string, amount = 20): string =>
  `The claim is about ${amount} dollars.\nIt was checked.\n${words}`;
const refunds = verdict('Refund it.');
const refuses = verdict('Refuse it.');

/** The agent's decision, and what follows from it. */
const decision = (b: string) => [{ path: 'decision', a: refunds, b }];

interface Compared {
  readonly runId: string;
  readonly diff: RunDiff;
  readonly cairn: RunDiff['stateDiff']['cairn'];
}

async function branched(fork: Omit<ForkRun, 'mode'>): Promise<Compared> {
  const runId = await clerk.branch(source, fork);
  return compared(runId);
}

async function compared(runId: string): Promise<Compared> {
  const diff = await clerk.client.runs.diff(source, runId);
  return { runId, diff, cairn: diff.stateDiff.cairn };
}

const atWork = () => clerk.seqOf(source, 'node.started', 'decide');

const entry = ({ entries }: { readonly entries: readonly DiffEntry[] }, key: string): DiffEntry | undefined =>
  entries.find((one) => one.key === key);

test('a changed prompt: its resolution is the first divergence, and the decision is another one', async () => {
  const fromSeq = await atWork();
  const prompts = { 'host:clerk': 'Be strict.' };
  const { diff, cairn } = await branched({ fromSeq, cairn: { overlay: { prompts } } });
  expect(cairn.sharedUpTo).toBe(fromSeq - 1);
  expect(diff.divergedAtSeq).toBe(fromSeq);
  expect(cairn.firstDivergence).toMatchObject({
    a: { type: 'agent.promptResolved', nodeId: 'decide' },
    b: { type: 'agent.promptResolved', nodeId: 'decide' },
  });
  expect(cairn.firstDivergence?.changes).toContainEqual({ path: 'chain.0.layer', a: 'node', b: 'run-configurable' });
  expect(entry(cairn.decisions, 'decide#0/decision0')).toMatchObject({ op: 'changed', changes: decision(refuses) });
  expect(cairn.toolCalls).toEqual({ entries: [], changed: 0, same: 1 });
  expect(entry(cairn.modelTurns, 'decide#0/model1')?.changes).toMatchObject([{ path: 'text', a: refunds, b: refuses }]);
  expect(entry(cairn.texts, 'decide#0/text0')?.changes).toMatchObject([{ path: 'text', a: refunds, b: refuses }]);
  expect(diff.stateDiff.variables).toEqual([{ path: 'verdict', a: refunds, b: refuses }]);
  expect(diff.stateDiff.status).toEqual({ a: 'completed', b: 'waiting-approval' });
  expect(cairn.branches).toMatchObject({ b: { sourceRunId: source, fromSeq, overlay: { prompts } } });
  expect(cairn.totals).toMatchObject({
    inputTokens: { a: 100, b: 100 },
    outputTokens: { a: 25, b: 25 },
    modelCalls: { a: 2, b: 2 },
    toolCalls: { a: 1, b: 1 },
  });
  expect(cairn.totals.costUsd.a).toBeCloseTo(0.15);
});

test('a changed tool: its result is the first divergence, and the decision is another one', async () => {
  clerk.finds(500);
  const { cairn } = await branched({ fromSeq: await atWork() });
  clerk.finds(20);
  expect(cairn.firstDivergence).toMatchObject({ a: { type: 'agent.toolReturned', nodeId: 'decide' } });
  expect(cairn.firstDivergence?.changes).toContainEqual({ path: 'outcome.amount', a: 20, b: 500 });
  expect(entry(cairn.toolCalls, 'decide#0/tool0')).toMatchObject({
    kind: 'tool',
    changes: [{ path: 'result.amount', a: 20, b: 500 }],
  });
  expect(entry(cairn.decisions, 'decide#0/decision0')?.changes).toEqual(decision(verdict('Refuse it.', 500)));
});

test('a result that the branch is given instead of the recorded one', async () => {
  const fromSeq = await clerk.seqOf(source, 'agent.toolReturned');
  const rows = await clerk.client.events.all(source);
  const { callId } = { ...(rows[fromSeq]?.payload as JsonObject | undefined) };
  const result = { callId: String(callId), value: { claim: 'claim-a', amount: 101 } };
  const before = clerk.calls().tool;
  const { cairn } = await branched({ fromSeq, cairn: { overlay: { result } } });
  expect(clerk.calls().tool).toBe(before);
  expect(cairn.firstDivergence?.changes).toContainEqual({ path: 'outcome.amount', a: 20, b: 101 });
  expect(entry(cairn.decisions, 'decide#0/decision0')?.changes).toEqual(decision(verdict('Refuse it.', 101)));
});

test('another model: its choice is the first divergence', async () => {
  const { cairn } = await branched({
    fromSeq: await atWork(),
    runOptionsOverlay: { configurable: { model: 'small' } },
  });
  expect(cairn.firstDivergence).toMatchObject({
    a: { type: 'agent.invocation.started' },
    changes: [{ path: 'resolvedModel', a: 'large', b: 'small' }],
  });
  expect(entry(cairn.decisions, 'decide#0/decision0')?.changes).toEqual(decision(refuses));
});

test('another option of the model: it is the first divergence, although the decision is the same', async () => {
  const { cairn } = await branched({
    fromSeq: await atWork(),
    runOptionsOverlay: { configurable: { temperature: 0.5 } },
  });
  expect(cairn.firstDivergence).toMatchObject({
    a: { type: 'cairn.model.requested' },
    changes: [{ path: 'options.temperature', b: 0.5 }],
  });
  expect(entry(cairn.decisions, 'decide#0/decision0')).toBeUndefined();
});

test('another input: the node that takes it is the first divergence, and its tool call has other arguments', async () => {
  const { diff, cairn } = await branched({
    fromSeq: await atWork(),
    cairn: { overlay: { inputs: { claim: 'claim-b' } } },
  });
  expect(cairn.firstDivergence).toMatchObject({
    a: { type: 'node.started', nodeId: 'decide' },
    changes: [{ path: 'inputs.claim', a: 'claim-a', b: 'claim-b' }],
  });
  expect(entry(cairn.toolCalls, 'decide#0/tool0')?.changes).toContainEqual({
    path: 'arguments.claim',
    a: 'claim-a',
    b: 'claim-b',
  });
  expect(diff.stateDiff.inputs).toEqual([{ path: 'claim', a: 'claim-a', b: 'claim-b' }]);
});

test('another answer of a person: it is the first divergence, and the run ends otherwise', async () => {
  const fromSeq = await clerk.seqOf(source, 'interrupt.resolved');
  const { cairn, diff } = await branched({
    fromSeq,
    cairn: { overlay: { answer: { nodeId: 'gate', value: { action: 'reject', feedback: 'Too late.' } } } },
  });
  expect(cairn.firstDivergence).toMatchObject({ a: { seq: fromSeq, type: 'interrupt.resolved', nodeId: 'gate' } });
  expect(entry(cairn.answers, 'gate#0/approval0')?.changes).toContainEqual({
    path: 'answer.action',
    a: 'accept',
    b: 'reject',
  });
  expect(diff.stateDiff.status).toEqual({ a: 'completed', b: 'failed' });
  expect(cairn.modelTurns).toMatchObject({ changed: 0 });
});

test('the time of a branch does not contain the time between the cut and the fork', async () => {
  const { cairn, runId } = await branched({ fromSeq: await clerk.seqOf(source, 'run.completed') });
  const [old, own] = [await clerk.client.runs.get(source), await clerk.client.runs.get(runId)];
  const whole = Date.parse(own.completedAt ?? '') - Date.parse(own.startedAt ?? '');
  expect(cairn.totals.durationMs.a).toBe(Date.parse(old.completedAt ?? '') - Date.parse(old.startedAt ?? ''));
  expect(cairn.totals.durationMs.b).toBeLessThan(whole);
  expect(cairn.firstDivergence).toBeNull();
});

test('unchanged requests that reuse the record do the same, and the diff marks what was reused', async () => {
  const before = clerk.calls();
  const { cairn } = await branched({
    fromSeq: await atWork(),
    cairn: { rules: [{ calls: '*', use: 'reuse' }] },
  });
  expect(clerk.calls()).toEqual(before);
  expect(cairn.decisions.entries.map(({ key }) => key)).toEqual(['gate#0/node0']);
  expect([cairn.toolCalls, cairn.modelTurns]).toMatchObject([{ changed: 0 }, { changed: 0 }]);
});

test('a changed prompt asks the model again and reuses the result of the unchanged tool call', async () => {
  const before = clerk.calls();
  clerk.finds(500);
  const { cairn } = await branched({
    fromSeq: await atWork(),
    cairn: { rules: [{ calls: '*', use: 'reuse' }], overlay: { prompts: { 'host:clerk': 'Be strict.' } } },
  });
  clerk.finds(20);
  expect(clerk.calls()).toEqual({ model: before.model + 2, tool: before.tool });
  expect(entry(cairn.decisions, 'decide#0/decision0')?.changes).toEqual(decision(refuses));
});

test.each<[string, JsonObject, number, string]>([
  ['confirms the call', { action: 'run' }, 1, verdict('Refuse it.', 500)],
  ['takes the recorded result', { action: 'reuse' }, 0, refunds],
  ['gives another result', { action: 'use', result: { claim: 'claim-a', amount: 7 } }, 0, verdict('Refund it.', 7)],
])('the rule ask for one tool: a person %s', async (_, value, calls, said) => {
  const before = clerk.calls();
  clerk.finds(500);
  const rules = [
    { calls: 'tool:acme:look', use: 'ask' as const },
    { calls: 'model:*', use: 'reuse' as const },
  ];
  const { client } = clerk;
  const runId = await clerk.branch(source, { fromSeq: await atWork(), cairn: { rules } });
  expect(await client.runs.get(runId)).toMatchObject({ status: 'waiting-input', currentNodeId: 'decide' });
  const [asked] = (await client.inbox.list()).entries.filter((one) => one.runId === runId);
  expect(asked).toMatchObject({ nodeId: 'decide', kind: 'custom' });
  expect(clerk.calls()).toEqual(before);
  await client.runs.answer(runId, 'decide', value);
  await client.runs.wait(runId);
  clerk.finds(20);
  expect(clerk.calls().tool).toBe(before.tool + calls);
  const { cairn } = await compared(runId);
  expect(entry(cairn.decisions, 'decide#0/decision0')?.changes ?? []).toEqual(said === refunds ? [] : decision(said));
  expect(cairn.firstDivergence).not.toBeNull();
  expect(cairn.answers.entries.map(({ key, op }) => [key, op])).toContainEqual([
    expect.stringContaining('decide#0'),
    'added',
  ]);
});
