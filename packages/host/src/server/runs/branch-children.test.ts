/** The rules of a branch hold for the runs that it starts, at every depth. */
import { inboxPage, type JsonObject, parseShape, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { chain } from '../sample-workflows.kit.ts';
import type { Served } from '../served.kit.ts';
import { counting, fork, ranToEnd, rowsOf, snapshotOf, toEnd } from './fork-kit.kit.ts';

const sub = (workflowId: string) => ({ typeId: 'core.subWorkflow', config: { workflowId } });
const family = [
  chain('leaf', { typeId: 'acme.a' }),
  chain('middle', sub('leaf'), { typeId: 'acme.b' }),
  chain('top', sub('middle')),
];

/** Resolves with the first question that somebody asks. */
async function question(host: Served) {
  const found = Promise.withResolvers<{ runId: string; nodeId: string }>();
  const look = async () => {
    const { text } = await host.ask('GET', '/v1/host/cairn/inbox');
    const [entry] = parseShape(inboxPage, JSON.parse(text), 'The inbox').entries;
    if (entry !== undefined) found.resolve(entry);
  };
  const stop = host.store.log.follow(() => void look().catch(found.reject));
  await look();
  const entry = await found.promise;
  stop();
  return entry;
}

async function open() {
  const { host, calls } = await counting();
  for (const definition of family) await host.engine.register('t', definition);
  const source = await ranToEnd(host, 'top');
  const branch = async (cairn: JsonObject) =>
    String((await fork(host, source, { mode: 'branch', fromSeq: 1, cairn })).body.runId);
  const answer = ({ runId, nodeId }: { runId: string; nodeId: string }, resumeValue: JsonObject) =>
    host.ask('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { body: { resumeValue } });
  return { host, calls, source, branch, answer };
}

test('a call of a run that the branch starts is asked about before it is made', async () => {
  const { host, calls, branch, answer } = await open();
  const rules = [{ calls: 'step:*', use: 'ask' }];
  const runId = await branch({ rules });
  const leaf = await question(host);
  expect(leaf.runId).toBe(`${runId}.0.0`);
  expect(calls).toEqual({ 'acme.a': 1, 'acme.b': 1 });
  for (const id of [`${runId}.0`, `${runId}.0.0`])
    expect((await rowsOf(host, id))[0]).toMatchObject({ payload: { branch: { rules, prompts: {} } } });
  expect(await snapshotOf(host, leaf.runId)).toMatchObject({
    interrupt: { payload: { data: { customKind: 'cairn.call.proposed' } } },
  });
  expect((await answer(leaf, { action: 'run' })).status).toBe(200);
  const middle = await question(host);
  expect(middle.runId).toBe(`${runId}.0`);
  expect(calls).toEqual({ 'acme.a': 2, 'acme.b': 1 });
  await answer(middle, { action: 'use', result: { given: 1 } });
  await toEnd(host, runId);
  expect(await snapshotOf(host, runId)).toMatchObject({ status: 'completed' });
  expect(calls).toEqual({ 'acme.a': 2, 'acme.b': 1 });
});

test('nothing of such a run is recorded: reuse makes the call, and fails it if a person wants the record', async () => {
  const { host, calls, branch, answer } = await open();
  await toEnd(host, await branch({ rules: [{ calls: '*', use: 'reuse' }] }));
  expect(calls).toEqual({ 'acme.a': 2, 'acme.b': 2 });
  const runId = await branch({ rules: [{ calls: 'step:acme.a', use: 'ask' }] });
  await answer(await question(host), { action: 'reuse' });
  await toEnd(host, runId);
  expect(calls).toEqual({ 'acme.a': 2, 'acme.b': 2 });
  const { nodeStates } = await snapshotOf(host, `${runId}.0.0`);
  expect(nodeStates).toMatchObject({ n0: { status: 'failed', error: { code: 'replay_source_missing' } } });
});

test('a branch without rules and prompts starts its runs as any other does', async () => {
  const { host, branch } = await open();
  const runId = await branch({});
  await toEnd(host, runId);
  const [first] = await host.store.log.read({ runId: `${runId}.0` as RunId, after: -1, limit: 1 });
  expect(JSON.parse(first?.payload ?? '{}')).not.toHaveProperty('branch');
});
