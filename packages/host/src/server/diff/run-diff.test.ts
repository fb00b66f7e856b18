/** Two runs compared over HTTP: where they part, and what each did differently. */
import { type ContextId, type JsonObject, type RunDiff, type RunId, runDiff } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import { type Office, officeKeys, openOffice } from '../runs/office.kit.ts';

async function diffOf(office: Office, a: string, b: string, query = '', key = officeKeys.ann): Promise<RunDiff> {
  const { status, text } = await office.ask(`/v1/runs/${a}:diff?against=${b}${query}`, { key });
  expect(status).toBe(200);
  const diff = JSON.parse(text) as RunDiff;
  expect(runDiff.safeParse(diff).error).toBeUndefined();
  return diff;
}

const audited = (office: Office, a: string, b: string) => diffOf(office, a, b, '', officeKeys.auditor);

/** A tool that answers something else for the second run. */
function changingTool(): { readonly answer: (topic: string) => JsonObject; change: () => void } {
  let isChanged = false;
  return {
    answer: (topic) => ({ found: isChanged ? `${topic} is forgotten` : `${topic} is known` }),
    change: () => {
      isChanged = true;
    },
  };
}

async function twoRuns(): Promise<{ readonly office: Office; readonly a: RunId; readonly b: RunId }> {
  const tool = changingTool();
  const office = await openOffice({ answer: tool.answer });
  const a = await office.run('below', { topic: 'tides' });
  tool.change();
  return { office, a, b: await office.run('below', { topic: 'tides' }) };
}

test('two runs of one workflow that did the same are equal', async () => {
  const office = await openOffice();
  const runs = [await office.run('below', { topic: 'tides' }), await office.run('below', { topic: 'tides' })] as const;
  for (const diff of [await diffOf(office, ...runs), await audited(office, ...runs)]) {
    expect(diff).toMatchObject({ a: runs[0], b: runs[1], divergedAtSeq: null, eventDiffs: [] });
    const { cairn, ...state } = diff.stateDiff;
    expect(state).toEqual({});
    expect(cairn).toMatchObject({ sharedUpTo: -1, firstDivergence: null, leftOut: [] });
    expect(cairn.toolCalls).toEqual({ entries: [], changed: 0, same: 1 });
    expect(diff).not.toHaveProperty('truncated');
  }
});

test('approvals at different times are the same answer', async () => {
  const office = await openOffice();
  const runs: string[] = [];
  for (let i = 0; i < 2; i += 1) {
    const runId = await office.run('office', { topic: 'tides' });
    await office.client.runs.answer(runId, 'gate', { action: 'accept' });
    await office.client.runs.wait(runId);
    runs.push(runId);
  }
  const diff = await audited(office, runs[0] ?? '', runs[1] ?? '');
  expect(diff.divergedAtSeq).toBeNull();
  expect(diff.stateDiff.cairn.answers).toMatchObject({ changed: 0, same: 1 });
  expect(diff.stateDiff.cairn.children).toMatchObject({ changed: 0, same: 1 });
});

test('a changed tool: the first divergence is its result, and the changed decision is named', async () => {
  const { office, a, b } = await twoRuns();
  const diff = await audited(office, a, b);
  const { cairn } = diff.stateDiff;
  expect(cairn.firstDivergence).toMatchObject({
    a: { seq: diff.divergedAtSeq, type: 'agent.toolReturned', nodeId: 'work' },
    b: { seq: diff.divergedAtSeq, type: 'agent.toolReturned', nodeId: 'work' },
  });
  expect(cairn.firstDivergence?.changes).toContainEqual({
    path: 'outcome.found',
    a: 'tides is known',
    b: 'tides is forgotten',
  });
  expect(cairn.toolCalls.entries).toMatchObject([
    {
      key: 'work#0/tool0',
      kind: 'tool',
      nodeId: 'work',
      visit: 0,
      op: 'changed',
      a: { seq: expect.any(Number) },
      changes: [{ path: 'result.found', a: 'tides is known', b: 'tides is forgotten' }],
    },
  ]);
  const [decision] = cairn.decisions.entries;
  expect(decision).toMatchObject({ key: 'work#0/decision0', kind: 'decision', op: 'changed' });
  expect(decision?.changes).toEqual([
    {
      path: 'decision',
      a: 'About tides:\nfirst line\ntides is known\nlast line',
      b: 'About tides:\nfirst line\ntides is forgotten\nlast line',
    },
  ]);
  expect(cairn.modelTurns).toMatchObject({ changed: 1, same: 2 });
  expect(diff.stateDiff.variables).toMatchObject([{ path: 'found' }]);
  expect(diff.stateDiff.outputs).toMatchObject([{ path: 'value' }]);
  expect(cairn.totals).toMatchObject({ status: { a: 'completed', b: 'completed' }, toolCalls: { a: 1, b: 1 } });
  expect(diff.eventDiffs[0]).toMatchObject({
    seq: diff.divergedAtSeq,
    op: 'changed',
    aEvent: { type: 'agent.toolReturned', runId: a },
    bEvent: { type: 'agent.toolReturned', runId: b },
  });
});

test('streamed texts are compared by lines, not by chunks', async () => {
  const { office, a, b } = await twoRuns();
  const { texts } = (await diffOf(office, a, b)).stateDiff.cairn;
  expect(texts.entries).toHaveLength(1);
  expect(texts.entries[0]).toMatchObject({ key: 'work#0/text0', kind: 'text', op: 'changed' });
});

test('without audit:read a diff shows usage in the place of model turns, and no operator row', async () => {
  const { office, a, b } = await twoRuns();
  const diff = await diffOf(office, a, b);
  expect(JSON.stringify(diff)).not.toContain('cairn.model');
  expect(diff.stateDiff.cairn.modelTurns.entries.every(({ kind }) => kind !== 'model')).toBe(true);
});

test('other inputs part the runs at their first event', async () => {
  const office = await openOffice();
  const [a, b] = [await office.run('below', { topic: 'tides' }), await office.run('below', { topic: 'moons' })];
  const diff = await diffOf(office, a, b);
  expect(diff.divergedAtSeq).toBe(0);
  expect(diff.stateDiff.cairn.firstDivergence).toMatchObject({
    a: { seq: 0, type: 'run.started' },
    changes: [{ path: 'inputs.topic', a: 'tides', b: 'moons' }],
  });
  expect(diff.stateDiff.inputs).toEqual([{ path: 'topic', a: 'tides', b: 'moons' }]);
});

test('a run that goes on is compared as far as it is, and the diff says so', async () => {
  const office = await openOffice();
  const a = await office.run('office', { topic: 'tides' });
  const b = await office.run('office', { topic: 'tides' });
  await office.client.runs.answer(b, 'gate', { action: 'reject' });
  await office.client.runs.wait(b);
  const diff = await diffOf(office, a, b);
  expect(diff.truncated).toBe(true);
  expect(diff.stateDiff.status).toMatchObject({ a: 'waiting-approval' });
  expect(diff.stateDiff.cairn.firstDivergence).toMatchObject({ a: null });
  expect(diff.stateDiff.cairn.answers.entries[0]).toMatchObject({ op: 'changed', nodeId: 'gate' });
  expect(diff.eventDiffs.every(({ op }) => op === 'added')).toBe(true);
});

test('a run compared with itself reads none of its history', async () => {
  const office = await openOffice();
  const a = await office.run('below', { topic: 'tides' });
  const read = readsOf(office.store.log);
  const diff = await audited(office, a, a);
  const last = (await office.store.log.head(a))?.seq ?? -1;
  expect(diff.stateDiff.cairn).toMatchObject({ sharedUpTo: last, firstDivergence: null });
  expect(read.every(({ limit }) => limit === 1 || limit > 250)).toBe(true);
});

/** The ranges that are read from here on. */
function readsOf(log: EventLog): readonly { readonly limit: number }[] {
  const ranges: { readonly limit: number }[] = [];
  const read = log.read.bind(log);
  log.read = (range) => {
    ranges.push(range);
    return read(range);
  };
  return ranges;
}

test('lists end at the limit, and the diff says how much is left out', async () => {
  const office = await openOffice();
  const [a, b] = [await office.run('below', { topic: 'tides' }), await office.run('below', { topic: 'moons' })];
  const { eventDiffs, stateDiff } = await diffOf(office, a, b, '&limit=2');
  expect(eventDiffs).toHaveLength(2);
  expect(stateDiff.cairn.decisions.entries).toHaveLength(2);
  const { changed } = stateDiff.cairn.decisions;
  expect(changed).toBeGreaterThan(2);
  expect(stateDiff.cairn.leftOut).toContainEqual({ what: 'decisions', count: changed - 2 });
  expect(stateDiff.cairn.leftOut).toContainEqual({ what: 'eventDiffs', count: expect.any(Number) });
});

test('an unchanged diff is not computed again', async () => {
  const { office, a, b } = await twoRuns();
  const path = `/v1/runs/${a}:diff?against=${b}`;
  const etag = (await office.ask(path)).headers.get('etag') ?? '';
  const again = await office.ask(path, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  const other = await office.ask(path, { key: officeKeys.auditor, headers: { 'if-none-match': etag } });
  expect(other.status).toBe(200);
});

test.each<[string, (a: string) => string, string, unknown[]]>([
  ['no other run', (a) => `/v1/runs/${a}:diff`, officeKeys.ann, [400, 'validation_error']],
  ['an empty name', (a) => `/v1/runs/${a}:diff?against=`, officeKeys.ann, [400, 'validation_error']],
  ['a name that is no id', (a) => `/v1/runs/${a}:diff?against=..%2F`, officeKeys.ann, [400, 'validation_error']],
  ['a limit out of range', (a) => `/v1/runs/${a}:diff?against=${a}&limit=0`, officeKeys.ann, [400, 'validation_error']],
  ['an unknown other run', (a) => `/v1/runs/${a}:diff?against=run_none`, officeKeys.ann, [404, 'not_found']],
  ['an unknown run', (a) => `/v1/runs/run_none:diff?against=${a}`, officeKeys.ann, [404, 'not_found']],
  ['a run of another tenant', (a) => `/v1/runs/${a}:diff?against=${a}`, officeKeys.stranger, [404, 'not_found']],
  ['a key without runs:read', (a) => `/v1/runs/${a}:diff?against=${a}`, officeKeys.nobody, [403, 'forbidden']],
])('%s is refused', async (_, path, key, expected) => {
  const office = await openOffice();
  const a = await office.run('below', { topic: 'tides' });
  const { status, body } = await office.ask(path(a), { key });
  expect([status, body.error]).toEqual(expected);
});

test('a replay of a run did the same, from the cut on and before it', async () => {
  const office = await openOffice();
  const a = await office.run('below', { topic: 'tides' });
  const source = present(await office.store.log.head(a)).record;
  const b = 'run_replayed' as RunId;
  await office.store.log.fork({
    tenant: 't',
    contextId: 'ctx_replayed' as ContextId,
    originRunId: source.originRunId,
    runId: b,
    fork: { sourceRunId: a, fromSeq: 6, mode: 'replay' },
    at: Date.now(),
  });
  await office.client.runs.wait(b);
  const diff = await audited(office, a, b);
  expect(diff).toMatchObject({ divergedAtSeq: null, eventDiffs: [] });
  expect(diff.stateDiff.cairn.firstDivergence).toBeNull();
  expect(diff.stateDiff.cairn.sharedUpTo).toBeGreaterThanOrEqual(5);
});
