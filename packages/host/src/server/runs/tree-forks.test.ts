/** Forks of trees: one cut for a run and everything below it, or for the whole tree around it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inboxPage, type JsonObject, parseShape, type RunId, type WorkflowDefinition } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { openSqliteStore } from '../../log/sqlite/folder/open.ts';
import { chain } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';
import { fork, rowsOf, type SeenEvent, seqOf, snapshotOf } from './fork-kit.kit.ts';

const gate = { typeId: 'core.approvalGate', config: { title: 'Go on?' } };
const noop = { typeId: 'core.noop' };
const sub = (workflowId: string, config: JsonObject = {}) => ({
  typeId: 'core.subWorkflow',
  config: { workflowId, ...config },
});

const leaf = chain('leaf', noop, gate, noop);
const middle = chain('middle', noop, sub('leaf'), noop);
const top = chain('top', noop, sub('middle'), noop);
/** A host over SQLite, with the workflows of this file. */
async function open(): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-tree-forks-'));
  const store = await openSqliteStore({ folder });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const host = await served({ store });
  for (const definition of [leaf, middle, top]) await host.engine.register('t', definition);
  return host;
}

/** Resolves once it holds, which is looked at after every commit. */
async function until(host: Served, holds: () => Promise<boolean>): Promise<void> {
  const found = Promise.withResolvers<void>();
  const look = () => void holds().then((yes) => yes && found.resolve(), found.reject);
  const stop = host.store.log.follow(look);
  look();
  await found.promise;
  stop();
}

async function inbox(host: Served, runIds?: readonly string[]) {
  const { text } = await host.ask('GET', '/v1/host/cairn/inbox');
  const { entries } = parseShape(inboxPage, JSON.parse(text), 'The inbox');
  return runIds === undefined ? entries : entries.filter(({ runId }) => runIds.includes(runId));
}

const start = async (host: Served, workflowId: string): Promise<string> =>
  String((await host.ask('POST', '/v1/runs', { body: { workflowId } })).body.runId);

/** Starts the tree and waits until its leaf asks and both runs above have noted that their child has started. */
async function waiting(host: Served): Promise<string> {
  const runId = await start(host, 'top');
  const lastType = async (id: string) => {
    const { seq } = (await host.store.log.head(id as RunId)) ?? { seq: 0 };
    return (await host.store.log.read({ runId: id as RunId, after: seq - 1, limit: 1 }))[0]?.type;
  };
  await until(host, async () => {
    const above = await Promise.all([runId, `${runId}.0`].map(lastType));
    const isAsked = (await inbox(host, [`${runId}.0.0`])).length === 1;
    return isAsked && above.every((type) => type === 'cairn.step.returned');
  });
  return runId;
}

const answer = (host: Served, runId: string, nodeId = 'n1') =>
  host.ask('POST', `/v1/runs/${runId}/interrupts/${nodeId}`, { body: { resumeValue: { action: 'accept' } } });

const statusOf = async (host: Served, runId: string) => (await host.ask('GET', `/v1/runs/${runId}`)).body.status;

const ended = (host: Served, runId: string) =>
  until(host, async () => (await host.store.log.head(runId as RunId))?.record.endedAt != null);

/** Answers whatever the run or a run below it asks, until it has ended. */
async function finished(host: Served, runId: string): Promise<unknown> {
  await until(host, async () => {
    const asking = (await inbox(host)).filter((entry) => entry.runId === runId || entry.runId.startsWith(`${runId}.`));
    for (const entry of asking) await answer(host, entry.runId, entry.nodeId);
    return (await host.store.log.head(runId as RunId))?.record.endedAt != null;
  });
  return statusOf(host, runId);
}

const branch = async (host: Served, runId: string, fromSeq: number, cairn: JsonObject = {}) => {
  const reply = await fork(host, runId, { mode: 'branch', fromSeq, cairn });
  expect(reply).toMatchObject({ status: 201 });
  return String(reply.body.runId);
};

const comparable = (rows: readonly SeenEvent[]) => rows.map(({ type, nodeId, payload }) => ({ type, nodeId, payload }));

/** Forks the tree at the last event of its leaf. Returns the runs of both trees, from the root to the leaf. */
async function cutAtLeaf(host: Served) {
  const source = await waiting(host);
  const tree = [source, `${source}.0`, `${source}.0.0`];
  const before = await Promise.all(tree.map((id) => rowsOf(host, id)));
  const focus = await branch(host, present(tree[2]), present(before[2]).length, { tree: true });
  const root = present(focus.split('.')[0]);
  const forks = [root, `${root}.0`, `${root}.0.0`];
  expect(focus).toBe(forks[2]);
  return { source, tree, before, root, forks, focus };
}

test('a cut of a tree forks the runs that are open, at every depth, and they go on together', async () => {
  const host = await open();
  const { source, tree, before, root, forks, focus } = await cutAtLeaf(host);
  for (const [i, id] of forks.entries()) {
    const rows = await rowsOf(host, id);
    const { length } = present(before[i]);
    expect(comparable(rows.slice(0, length))).toEqual(comparable(present(before[i])));
    expect(rows[length]).toMatchObject({
      type: 'cairn.run.forked',
      payload: {
        ...{ runId: id, sourceRunId: tree[i], fromSeq: length, forkedBy: 'alice' },
        ...(i === 0 ? {} : { parentRunId: forks[i - 1] }),
        ...(i === 2 ? {} : { children: { [String(tree[i + 1])]: forks[i + 1] } }),
      },
    });
  }
  // The snapshots, the run list and the inbox show the new tree.
  expect(await snapshotOf(host, root)).toMatchObject({ childRuns: [{ runId: forks[1] }] });
  expect(await snapshotOf(host, present(forks[1]))).toMatchObject({
    ...{ parentRunId: root, parentNodeId: 'n1', fork: { sourceRunId: tree[1] } },
  });
  const parentOf = async (id: string) => (await host.ask('GET', `/v1/runs/${id}/ancestry`)).body.parent;
  expect(await Promise.all(forks.map(parentOf))).toMatchObject([
    null,
    { runId: root, cause: 'core.subWorkflow' },
    { runId: forks[1], cause: 'core.subWorkflow' },
  ]);
  const alone = await branch(host, present(tree[2]), 2);
  expect(await parentOf(alone)).toBeNull();
  await host.ask('POST', `/v1/runs/${alone}/cancel`);
  await ended(host, alone);
  const [entry] = await inbox(host, [focus]);
  const path = [
    { runId: root, nodeId: 'n1' },
    { runId: forks[1], nodeId: 'n1' },
    { runId: forks[2], nodeId: 'n1' },
  ];
  expect(entry).toMatchObject({ runId: focus, nodeId: 'n1', path });
  // Each tree has its own question: the answer to one moves only that one.
  expect((await answer(host, focus)).status).toBe(200);
  await ended(host, root);
  expect(await statusOf(host, root)).toBe('completed');
  expect(await Promise.all(tree.map((id) => rowsOf(host, id)))).toEqual(before);
  expect(await inbox(host)).toMatchObject([{ runId: tree[2] }]);
  expect(await finished(host, source)).toBe('completed');
});

test('a branch shares what the runs below it had done before the event', async () => {
  const host = await open();
  const source = await waiting(host);
  const rows = await rowsOf(host, source);
  const child = `${source}.0` as RunId;
  const cut = async (id: string) => present(await host.store.log.head(id as RunId)).record.fork;
  // At the end of a run that waits, everything is shared.
  const last = await branch(host, source, rows.length);
  expect(await cut(last)).toMatchObject({ sourceRunId: source, fromSeq: rows.length });
  expect(await cut(`${last}.0`)).toEqual({
    ...{ sourceRunId: child, mode: 'branch' },
    fromSeq: (await rowsOf(host, child)).length,
  });
  expect(await inbox(host, [`${last}.0.0`])).toHaveLength(1);
  // At an event of its, the rows of the child that stand before it in the context.
  const fromSeq = seqOf(rows, 'node.dispatched', 'n1');
  const [event] = await host.store.log.read({ runId: source as RunId, after: fromSeq - 1, limit: 1 });
  const earlier = await branch(host, source, fromSeq);
  expect(await cut(`${earlier}.0`)).toMatchObject({
    fromSeq: await host.store.log.rowsUntil(child, present(event).cursor - 1),
  });
  expect(await finished(host, earlier)).toBe('completed');
  expect(await statusOf(host, source)).not.toBe('completed');
});

test('a branch refers to children that had ended, and starts those anew that had not begun', async () => {
  const host = await open();
  const source = await waiting(host);
  await finished(host, source);
  const rows = await rowsOf(host, source);
  // After the end of the child: it stays what it was.
  const late = await branch(host, source, seqOf(rows, 'node.started', 'n2'));
  expect(await finished(host, late)).toBe('completed');
  expect(await snapshotOf(host, late)).toMatchObject({ childRuns: [{ runId: `${source}.0`, status: 'completed' }] });
  expect(await host.store.log.head(`${late}.0` as RunId)).toBeNull();
  // Between the request for the child and its start: the branch starts one of its own.
  const early = await branch(host, source, seqOf(rows, 'cairn.step.requested', 'n1') + 1);
  expect(await finished(host, early)).toBe('completed');
  expect(await host.store.log.head(`${early}.0` as RunId)).toMatchObject({
    record: { fork: null, status: 'completed' },
  });
  expect((await rowsOf(host, `${early}.0`))[0]).toMatchObject({ payload: { parentRunId: early, depth: 1 } });
});

test('to cancel a branch cancels the children that were forked with it, and none of the source', async () => {
  const host = await open();
  const { source, root, forks } = await cutAtLeaf(host);
  await host.ask('POST', `/v1/runs/${root}/cancel`);
  for (const id of forks) await ended(host, id);
  for (const id of forks) expect(await statusOf(host, id)).toBe('cancelled');
  expect(await inbox(host)).toMatchObject([{ runId: `${source}.0.0` }]);
  expect(await statusOf(host, source)).not.toBe('cancelled');
});

test('an answer in the overlay goes to the run that is forked, and its tree goes on with it', async () => {
  const host = await open();
  const source = await waiting(host);
  const leafId = `${source}.0.0`;
  const fromSeq = (await rowsOf(host, leafId)).length;
  const overlay = { answer: { nodeId: 'n1', value: { action: 'accept' } } };
  const focus = await branch(host, leafId, fromSeq, { tree: true, overlay });
  const root = present(focus.split('.')[0]);
  await ended(host, root);
  expect(await statusOf(host, root)).toBe('completed');
  const events = await host.ask('GET', `/v1/runs/${root}:diff?against=${source}`);
  expect(events.status).toBe(200);
  expect(await inbox(host)).toMatchObject([{ runId: leafId }]);
});

test('the start of a child takes no result from an overlay: the branch would wait for a child that never begins', async () => {
  const host = await open();
  const runId = await waiting(host);
  const rows = await rowsOf(host, runId);
  const requested = present(rows.find(({ type }) => type === 'cairn.step.requested'));
  const { callId } = requested.payload;
  const overlay = { result: { callId: String(callId), value: {} } };
  const body = { mode: 'branch', fromSeq: seqOf(rows, 'node.dispatched'), cairn: { overlay } };
  const refused = await fork(host, runId, body);
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { error: 'validation_error', details: { openCalls: [] } },
  ]);
});

test('one idempotency key makes one tree; a wide tree is forked whole', async () => {
  const host = await open();
  const source = await waiting(host);
  const fromSeq = (await rowsOf(host, source)).length;
  const ask = { headers: { 'idempotency-key': 'once' } };
  const first = await fork(host, source, { mode: 'branch', fromSeq }, ask);
  const second = await fork(host, source, { mode: 'branch', fromSeq }, ask);
  expect(second.body.runId).toBe(first.body.runId);
  expect(await inbox(host)).toHaveLength(2);
  const many = Array.from({ length: 80 }, () => sub('leaf'));
  const crowd: WorkflowDefinition = { ...chain('crowd', ...many), edges: [] };
  await host.engine.register('t', crowd);
  const crowded = await start(host, 'crowd');
  const children = many.map((_, i) => `${crowded}.${i}` as RunId);
  await until(host, async () => {
    const heads = await Promise.all(children.map((id) => host.store.log.head(id)));
    return heads.every((head) => head?.record.status === 'waiting-approval');
  });
  const at = (await rowsOf(host, crowded)).length;
  const wide = await branch(host, crowded, at);
  const forks = await Promise.all(many.map((_, i) => host.store.log.head(`${wide}.${i}` as RunId)));
  expect(forks.map((head) => head?.record.parentRunId)).toEqual(many.map(() => wide));
  expect((await fork(host, `${crowded}.7`, { mode: 'branch', fromSeq: 2, cairn: { tree: true } })).status).toBe(201);
  const replay = await fork(host, source, { mode: 'replay', cairn: { tree: true } }, { key: keys.alice });
  expect(replay).toMatchObject({ status: 400, body: { error: 'validation_error' } });
});
