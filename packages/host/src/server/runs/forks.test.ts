import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, runForked } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { chain, noop } from '../sample-workflows.kit.ts';
import { keys, keyWith, served } from '../served.kit.ts';
import { branchToEnd, counting, fetchUntil, fork, ranToEnd, rowsOf, seqOf, snapshotOf, toEnd } from './fork-kit.kit.ts';

test('a branch shares the events before the cut and makes the calls after it again', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three');
  const before = await rowsOf(host, source);
  const fromSeq = seqOf(before, 'node.started', 'n1');
  const reply = await fork(host, source, { mode: 'branch', fromSeq });
  expect(reply.status).toBe(201);
  const forked = runForked.parse(reply.body);
  expect(forked).toMatchObject({ sourceRunId: source, fromSeq, mode: 'branch', status: 'running' });
  expect(forked.eventsUrl).toBe(`/v1/runs/${forked.runId}/events`);
  await toEnd(host, forked.runId);
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 2, 'acme.c': 2 });
  const after = await rowsOf(host, forked.runId);
  const shown = (rows: typeof after) =>
    rows.slice(0, fromSeq).map(({ type, nodeId, payload }) => ({ type, nodeId, payload }));
  expect(shown(after)).toEqual(shown(before));
  expect(after[fromSeq]).toMatchObject({
    type: 'cairn.run.forked',
    payload: { sourceRunId: source, fromSeq, mode: 'branch', forkedBy: 'alice', contextId: forked.contextId },
  });
  expect(new Set([...before, ...after].map(({ eventId }) => eventId)).size).toBe(before.length + after.length);
  expect(await rowsOf(host, source)).toEqual(before);
  expect(await snapshotOf(host, forked.runId)).toMatchObject({
    status: 'completed',
    contextId: forked.contextId,
    nodeStates: { n0: { outputs: { 'acme.a': 1 } }, n2: { outputs: { 'acme.c': 2 } } },
  });
});

test('a data folder keeps branches: shared events are read from the source, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-forks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => openSqliteStore({ folder });
  const { host, calls } = await counting(await open());
  const source = await ranToEnd(host, 'three');
  const fromSeq = seqOf(await rowsOf(host, source), 'node.started', 'n1');
  const branch = await branchToEnd(host, source, { fromSeq });
  const gate = String((await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval' } })).body.runId);
  const waiting = await fork(host, gate, { mode: 'branch', fromSeq: (await rowsOf(host, gate)).length });
  const rows = await rowsOf(host, branch);
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 2, 'acme.c': 2 });
  await host.stop();
  const again = (await counting(await open())).host;
  expect(await rowsOf(again, branch)).toEqual(rows);
  expect(await snapshotOf(again, branch)).toMatchObject({
    status: 'completed',
    fork: { sourceRunId: source, fromSeq },
  });
  const path = `/v1/runs/${waiting.body.runId}`;
  await again.ask('POST', `${path}/interrupts/n0`, { body: { resumeValue: { action: 'accept' } } });
  await toEnd(again, String(waiting.body.runId));
  expect(await snapshotOf(again, String(waiting.body.runId))).toMatchObject({ status: 'completed' });
  expect(await snapshotOf(again, gate)).toMatchObject({ status: 'waiting-approval' });
});

test('a run can branch at each of its events', async () => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three');
  const rows = await rowsOf(host, source);
  for (const { sequence } of rows) {
    const branch = await branchToEnd(host, source, { fromSeq: sequence });
    expect((await snapshotOf(host, branch)).status, `at ${sequence}`).toBe('completed');
  }
});

test.each([
  ['a negative position', { mode: 'branch', fromSeq: -1 }],
  ['a branch without a position', { mode: 'branch' }],
  ['a mode that is none', { mode: 'copy' }],
  ['no mode', { fromSeq: 0 }],
  ['a field that is none', { mode: 'replay', at: 1 }],
  ['a replay with other options', { mode: 'replay', runOptionsOverlay: { tags: ['x'] } }],
  ['a replay with rules', { mode: 'replay', cairn: { rules: [{ calls: '*', use: 'live' }] } }],
  ['a replay with an overlay', { mode: 'replay', cairn: { overlay: { inputs: { who: 'Ada' } } } }],
  ['an option of another type', { mode: 'branch', fromSeq: 1, runOptionsOverlay: { configurable: { budget: 1 } } }],
  ['a limit that is none', { mode: 'branch', fromSeq: 1, runOptionsOverlay: { configurable: { 'cairn.tools': 1 } } }],
  ['an input of another type', { mode: 'branch', fromSeq: 1, cairn: { overlay: { inputs: { who: 7 } } } }],
  ['a pattern that is none', { mode: 'branch', fromSeq: 1, cairn: { rules: [{ calls: 'tools', use: 'live' }] } }],
  ['too many rules', { mode: 'branch', fromSeq: 1, cairn: { rules: Array(51).fill({ calls: '*', use: 'live' }) } }],
  ['a context', { mode: 'branch', fromSeq: 1, runOptionsOverlay: { configurable: { 'cairn.contextId': 'ctx_1' } } }],
  ['a result of no call', { mode: 'branch', fromSeq: 1, cairn: { overlay: { result: { callId: 'x', value: 1 } } } }],
])('refuses %s with 400', async (_, body: JsonObject) => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three');
  expect(await fork(host, source, body)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
});

test('an overlay that does not fit in an event is refused with its size', async () => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three');
  const inputs = { who: 'x'.repeat(60_000) };
  const prompts = { a: 'y'.repeat(60_000), b: 'z'.repeat(60_000) };
  const overlay = { inputs, prompts };
  const host2 = await served({ maxRequestBodyBytes: 1_000_000 });
  await host2.engine.register('t', noop);
  const other = await ranToEnd(host2, 'noop');
  const reply = await fork(host2, other, { mode: 'branch', fromSeq: 1, cairn: { overlay } });
  expect(reply).toMatchObject({ status: 400, body: { details: { maxBytes: 131_072 } } });
  expect(source).not.toBe('');
});

test('a position beyond the log is 422 with the last one, a run of another tenant or none is 404', async () => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three');
  const last = (await rowsOf(host, source)).length - 1;
  for (const mode of ['replay', 'branch']) {
    expect(await fork(host, source, { mode, fromSeq: last + 2 })).toMatchObject({
      status: 422,
      body: { error: 'invalid_from_seq', details: { sourceRunId: source, fromSeq: last + 2, lastSeq: last } },
    });
    expect(await fork(host, source, { mode, fromSeq: 0 }, { key: keys.stranger })).toMatchObject({ status: 404 });
    expect(await fork(host, 'run_none', { mode, fromSeq: 0 })).toMatchObject({ status: 404 });
  }
  expect(await fork(host, source, { mode: 'branch', fromSeq: last + 1 })).toMatchObject({
    status: 422,
    body: { error: 'invalid_from_seq', message: expect.stringContaining('nothing follows its last event') },
  });
  expect(await fork(host, source, { mode: 'branch', fromSeq: 0 }, { key: keyWith('runs:read') })).toMatchObject({
    status: 403,
  });
});

test('a fork under an idempotency key is made once', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three');
  const ask = { headers: { 'idempotency-key': 'k' } };
  const first = await fork(host, source, { mode: 'branch', fromSeq: 1 }, ask);
  const again = await fork(host, source, { mode: 'branch', fromSeq: 1 }, ask);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(await fork(host, source, { mode: 'branch', fromSeq: 2 }, ask)).toMatchObject({
    status: 409,
    body: { error: 'idempotency_key_mismatch' },
  });
  await toEnd(host, String(first.body.runId));
  expect(calls['acme.a']).toBe(2);
});

test('an overlay changes inputs, tags, metadata and options from the cut on', async () => {
  const { host } = await counting();
  const source = await ranToEnd(host, 'three', { who: 'Ada' });
  const fromSeq = seqOf(await rowsOf(host, source), 'node.started', 'n1');
  const branch = await branchToEnd(host, source, {
    fromSeq,
    runOptionsOverlay: { tags: ['what-if'], metadata: { why: 'test' }, configurable: { recursionLimit: 50 } },
    cairn: { overlay: { inputs: { who: 'Bob' } } },
  });
  expect(await snapshotOf(host, branch)).toMatchObject({
    tags: ['what-if'],
    metadata: { why: 'test' },
    configurable: { recursionLimit: 50 },
    inputs: { who: 'Bob' },
    nodeStates: { n0: { outputs: { who: 'Ada' } }, n1: { outputs: { who: 'Bob' } }, n2: { outputs: { who: 'Bob' } } },
  });
  const listed = (await host.ask('GET', '/v1/runs?tag=what-if')).body as { runs: readonly JsonObject[] };
  expect(listed.runs).toMatchObject([{ runId: branch }]);
});

test('a branch may answer the question that is open at the cut, and its source keeps its own answer', async () => {
  const { host } = await counting();
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'approval' } });
  const source = String(body.runId);
  const open = await rowsOf(host, source);
  const fromSeq = open.length;
  const answer = { nodeId: 'n0', value: { action: 'reject', feedback: 'no' } };
  const branch = await branchToEnd(host, source, { fromSeq, cairn: { overlay: { answer } } });
  expect(await snapshotOf(host, branch)).toMatchObject({ status: 'failed', error: { code: 'approval_rejected' } });
  expect(await snapshotOf(host, source)).toMatchObject({ status: 'waiting-approval' });
  const refused = {
    mode: 'branch',
    fromSeq,
    cairn: { overlay: { answer: { nodeId: 'n0', value: { action: 'shrug' } } } },
  };
  expect((await fork(host, source, refused)).status).toBe(400);
  // The refusal names the run that was asked for, and not one that never began.
  expect(await fork(host, source, { mode: 'branch', fromSeq: 1, cairn: { overlay: { answer } } })).toMatchObject({
    status: 404,
    body: {
      error: 'interrupt_not_found',
      message: `Run ${source} has no such question that is open at 1; none is open there.`,
    },
  });
  const waiting = await fork(host, source, { mode: 'branch', fromSeq });
  expect(waiting.body.status).toBe('waiting-approval');
  const inbox = await host.ask('GET', `/v1/runs/${waiting.body.runId}/interrupts`);
  expect(inbox.text).toContain('n0');
  const accepted = await host.ask('POST', `/v1/runs/${waiting.body.runId}/interrupts/n0`, {
    body: { resumeValue: { action: 'accept' } },
  });
  expect(accepted.status).toBe(200);
  await toEnd(host, String(waiting.body.runId));
  expect(await snapshotOf(host, String(waiting.body.runId))).toMatchObject({ status: 'completed' });
});

test('a branch may give the result of the call that is open at the cut', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three');
  const rows = await rowsOf(host, source);
  const returned = rows.find(({ type, nodeId }) => type === 'cairn.step.returned' && nodeId === 'n1');
  const result = { callId: String(returned?.payload.callId), value: { mended: true } };
  const branch = await branchToEnd(host, source, { fromSeq: returned?.sequence ?? 0, cairn: { overlay: { result } } });
  expect(await snapshotOf(host, branch)).toMatchObject({ nodeStates: { n1: { outputs: { mended: true } } } });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 1, 'acme.c': 2 });
  // A wrong name is told which calls there are.
  const other = { fromSeq: returned?.sequence ?? 0, cairn: { overlay: { result: { ...result, callId: 'x' } } } };
  const refused = await fork(host, source, { mode: 'branch', ...other });
  expect(refused.body).toMatchObject({
    message: expect.stringContaining(`open there: ${result.callId}.`),
    details: { openCalls: [result.callId] },
  });
});

test.each([
  { typeId: 'core.approvalGate', config: { title: 'Go on?' } },
  { typeId: 'core.conversationGate', config: { prompt: 'What now?' } },
])('a branch goes on behind a $typeId whose question its source had closed when it was cancelled', async (gate) => {
  const { host } = await counting();
  await host.engine.register('t', chain('gated', gate, { typeId: 'core.noop' }));
  const { runId } = (await host.ask('POST', '/v1/runs', { body: { workflowId: 'gated' } })).body;
  await host.ask('POST', `/v1/runs/${runId}/cancel`, { body: {} });
  await toEnd(host, String(runId));
  const rows = await rowsOf(host, String(runId));
  const fromSeq = seqOf(rows, 'interrupt.resolved') + 1;
  const branch = await branchToEnd(host, String(runId), { fromSeq });
  const types = (all: typeof rows) => all.map(({ type }) => type);
  const closed = types(rows.slice(fromSeq, seqOf(rows, 'node.cancelled') + 1));
  const own = types((await rowsOf(host, branch)).slice(fromSeq));
  expect(own.slice(0, closed.length + 1)).toEqual([...closed, 'cairn.run.forked']);
  expect(await snapshotOf(host, branch)).toMatchObject({
    status: 'completed',
    nodeStates: { n0: { status: 'cancelled' } },
  });
});

test('rules reuse the recorded results of unchanged requests, in the order of the rules', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three', { who: 'Ada' });
  const rules = [
    { calls: 'step:acme.c', use: 'live' },
    { calls: '*', use: 'reuse' },
  ];
  const branch = await branchToEnd(host, source, { fromSeq: 1, cairn: { rules } });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 1, 'acme.c': 2 });
  const rows = await rowsOf(host, branch);
  const results = rows.filter(({ type }) => type === 'cairn.step.returned').map(({ payload }) => payload.reusedFrom);
  const sourceRows = await rowsOf(host, source);
  expect(results).toEqual([
    { runId: source, seq: seqOf(sourceRows, 'cairn.step.returned', 'n0') },
    { runId: source, seq: seqOf(sourceRows, 'cairn.step.returned', 'n1') },
    undefined,
  ]);
  const changed = { fromSeq: 1, cairn: { rules, overlay: { inputs: { who: 'Bob' } } } };
  await branchToEnd(host, source, changed);
  expect(calls).toEqual({ 'acme.a': 2, 'acme.b': 2, 'acme.c': 3 });
});

test('equal requests that run at once take different results of the record', async () => {
  const { host, calls } = await counting();
  const { edges: _, ...twice } = chain('twice', { typeId: 'acme.a' }, { typeId: 'acme.a' });
  await host.engine.register('t', { ...twice, edges: [] });
  const source = await ranToEnd(host, 'twice');
  const reuse = { fromSeq: 1, cairn: { rules: [{ calls: '*', use: 'reuse' }] } };
  const rows = await rowsOf(host, await branchToEnd(host, source, reuse));
  const outcomes = rows.filter(({ type }) => type === 'cairn.step.returned').map(({ payload }) => payload.outcome);
  expect(new Set(outcomes.map((one) => JSON.stringify(one))).size).toBe(2);
  expect(calls).toEqual({ 'acme.a': 2 });
});

test('a branch reuses what its source did after an earlier branch had looked', async () => {
  const { host, calls } = await counting();
  const gate = { typeId: 'core.approvalGate', config: { title: 'On?' } };
  // A step is given what the node before it says; that of a gate names the time of the answer.
  const same = { typeId: 'core.setVariable', config: { name: 'said', expression: "'on'" } };
  const halfway = chain('halfway', { typeId: 'acme.a' }, gate, same, { typeId: 'acme.b' });
  await host.engine.register('t', { ...halfway, variables: [{ name: 'said', type: 'string', defaultValue: '' }] });
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'halfway' } });
  const source = String(body.runId);
  await fetchUntil(host, source, 'waiting-approval');
  const accept = (runId: string) =>
    host.ask('POST', `/v1/runs/${runId}/interrupts/n1`, { body: { resumeValue: { action: 'accept' } } });
  const begun = async () => {
    const rules = [{ calls: '*', use: 'reuse' }];
    const branch = String((await fork(host, source, { mode: 'branch', fromSeq: 1, cairn: { rules } })).body.runId);
    await fetchUntil(host, branch, 'waiting-approval');
    return branch;
  };
  await begun();
  await accept(source);
  await toEnd(host, source);
  const branch = await begun();
  await accept(branch);
  await toEnd(host, branch);
  expect(await snapshotOf(host, branch)).toMatchObject({ status: 'completed' });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 1 });
});

test('a call that is open at the cut follows its rule too', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three');
  const fromSeq = seqOf(await rowsOf(host, source), 'cairn.step.returned', 'n1');
  await branchToEnd(host, source, { fromSeq, cairn: { rules: [{ calls: 'step:acme.b', use: 'reuse' }] } });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 1, 'acme.c': 2 });
  await branchToEnd(host, source, { fromSeq });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 2, 'acme.c': 3 });
});

test('the rule ask asks a person before the call: to make it, to reuse the record, or to use another result', async () => {
  const { host, calls } = await counting();
  const source = await ranToEnd(host, 'three');
  const rules = [
    { calls: 'step:acme.b', use: 'ask' },
    { calls: 'step:acme.a', use: 'reuse' },
  ];
  const answered = async (value: JsonObject) => {
    const { body } = await fork(host, source, { mode: 'branch', fromSeq: 1, cairn: { rules } });
    const runId = String(body.runId);
    const stream = await fetchUntil(host, runId, 'waiting-input');
    expect(stream).toMatchObject({ interrupt: { payload: { data: { customKind: 'cairn.call.proposed' } } } });
    const reply = await host.ask('POST', `/v1/runs/${runId}/interrupts/n1`, { body: { resumeValue: value } });
    expect(reply.status).toBe(200);
    await toEnd(host, runId);
    return (await snapshotOf(host, runId)).nodeStates as Record<string, JsonObject>;
  };
  expect((await answered({ action: 'use', result: { edited: 1 } })).n1).toMatchObject({ outputs: { edited: 1 } });
  expect(calls['acme.b']).toBe(1);
  expect((await answered({ action: 'reuse' })).n1).toMatchObject({ outputs: { 'acme.b': 1 } });
  expect(calls['acme.b']).toBe(1);
  expect((await answered({ action: 'run' })).n1).toMatchObject({ outputs: { 'acme.b': 2 } });
  expect(await answered({ action: 'fail' })).toMatchObject({ n1: { status: 'failed' } });
});

test('a retry branches at the failed node and keeps everything before it', async () => {
  const { host, calls, fails } = await counting();
  fails.add('acme.b');
  const source = await ranToEnd(host, 'three');
  expect((await snapshotOf(host, source)).status).toBe('failed');
  fails.clear();
  const reply = await host.ask('POST', `/v1/runs/${source}:retry`);
  const fromSeq = seqOf(await rowsOf(host, source), 'node.started', 'n1');
  expect([reply.status, reply.body]).toMatchObject([201, { sourceRunId: source, mode: 'branch', fromSeq }]);
  await toEnd(host, String(reply.body.runId));
  expect(await snapshotOf(host, String(reply.body.runId))).toMatchObject({ status: 'completed' });
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 2, 'acme.c': 1 });
  const { body } = await host.ask('GET', `/api/contexts/${reply.body.contextId}/events?after=0`);
  const told = (body.events as { metadata?: JsonObject }[]).filter(({ metadata }) => metadata?.retryOf !== undefined);
  expect(told).toMatchObject([{ kind: 'task-status', status: 'working', metadata: { retryOf: source } }]);
});

test('a run that did not fail is not retried, and neither is one that no node of it failed', async () => {
  const { host } = await counting();
  const completed = await ranToEnd(host, 'three');
  expect(await host.ask('POST', `/v1/runs/${completed}:retry`)).toMatchObject({
    status: 409,
    body: { error: 'conflict', details: { runStatus: 'completed' } },
  });
  const { body } = await host.ask('POST', '/v1/runs', {
    body: { workflowId: 'three', configurable: { recursionLimit: 1 } },
  });
  await toEnd(host, String(body.runId));
  expect(await host.ask('POST', `/v1/runs/${body.runId}:retry`)).toMatchObject({
    status: 409,
    body: { error: 'conflict', details: { runStatus: 'failed', errorCode: 'recursion_limit_exceeded' } },
  });
  const limit = seqOf(await rowsOf(host, String(body.runId)), 'cap.breached');
  const branch = await branchToEnd(host, String(body.runId), {
    fromSeq: limit,
    runOptionsOverlay: { configurable: { recursionLimit: 10 } },
  });
  expect(await snapshotOf(host, branch)).toMatchObject({ status: 'completed' });
});

test.each(['fork', 'retry'])('a %s may ask for a mock provider only by a name that there is', async (verb) => {
  const host = await served({ conformance: true, steps: [{ typeId: 'acme.a', safety: 'write', run: failing }] });
  await host.engine.register('t', chain('fails', { typeId: 'acme.a' }));
  const source = await ranToEnd(host, 'fails');
  const runOptionsOverlay = { configurable: { mockProvider: { id: 'crystal-ball' } } };
  const body = { ...(verb === 'fork' ? { mode: 'branch', fromSeq: 1 } : {}), runOptionsOverlay };
  expect(await host.ask('POST', `/v1/runs/${source}:${verb}`, { body })).toMatchObject({
    status: 400,
    body: { error: 'unsupported_mock_provider', details: { supported: expect.arrayContaining(['stream-text']) } },
  });
});

const failing = async (): Promise<never> => {
  throw new Error('acme.a is down');
};
