/** Cuts of trees at every event of every run, against the engine alone. */
import type { RunId, WorkflowDefinition } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { bench, chain, heldStep, settled } from '../../../test/kit/engine-bench.ts';
import { present } from '../../../test/kit/present.ts';
import type { Engine } from '../engine.ts';

const approval = { typeId: 'core.approvalGate', config: { title: 'Go on?' } };
const sub = (workflowId: string) => ({ typeId: 'core.subWorkflow', config: { workflowId } });
const named = (id: string, definition: WorkflowDefinition): WorkflowDefinition => ({ ...definition, id, name: id });

const leaf = named('leaf', chain(approval, 'core.noop'));
const middle = named('middle', chain(sub('leaf')));
/** Two children at once: a leaf, and one with a leaf below it. */
const wide = named('wide', { ...chain(sub('leaf'), sub('middle'), 'core.noop'), edges: [] });

function office() {
  const host = bench();
  const engine = host.node('n1');
  const runsOf = async (root: RunId) => {
    const { runs } = await host.store.runIndex.list({ tenant: 't', limit: 1_000 });
    return runs.map(({ runId }) => runId).filter((id) => id === root || id.startsWith(`${root}.`));
  };
  const answerAll = async (root: RunId) => {
    for (const runId of await runsOf(root)) {
      for (const { interruptId, open } of await host.store.runIndex.interrupts(runId)) {
        if (open) await engine.answer({ tenant: 't', runId, interruptId, value: { action: 'accept' } });
      }
    }
  };
  /** Answers everything that the tree asks, until its root has ended. */
  const finish = async (root: RunId): Promise<string> => {
    for (;;) {
      const { record } = present(await host.store.log.head(root));
      if (record.endedAt !== null) return record.status;
      await answerAll(root);
      await settled();
    }
  };
  return { ...host, engine, finish };
}

const rootOf = (runId: RunId): RunId => (runId.split('.')[0] ?? runId) as RunId;

const branched = async (engine: Engine, runId: RunId, fromSeq: number, isWholeTree = false): Promise<RunId> =>
  (await engine.fork({ tenant: 't', runId, mode: 'branch', fromSeq, isWholeTree })).runId as RunId;

test('every event of every run of a tree is a place to fork, alone or with the tree', async () => {
  const { engine, finish, begin, rows, store } = office();
  for (const definition of [leaf, middle]) await engine.register('t', definition);
  const source = await begin(engine, wide);
  await finish(source);
  const tree = ['', '.0', '.1', '.1.0'].map((place) => `${source}${place}` as RunId);
  const before = await Promise.all(tree.map(rows));
  for (const [i, id] of tree.entries()) {
    const all = present(before[i]);
    for (let fromSeq = 0; fromSeq < all.length; fromSeq += 1) {
      const alone = await branched(engine, id, fromSeq);
      expect([id, fromSeq, await finish(alone)]).toEqual([id, fromSeq, 'completed']);
      const { record } = present(await store.log.head(alone));
      expect(record).toMatchObject({ parentRunId: null, fork: { sourceRunId: id, fromSeq } });
      expect((await rows(alone)).slice(0, fromSeq).map(({ hash }) => hash)).toEqual(
        all.slice(0, fromSeq).map(({ hash }) => hash),
      );
      if (i === 0) continue;
      const focus = await branched(engine, id, fromSeq, true);
      expect(focus.slice(rootOf(focus).length)).toBe(id.slice(source.length));
      expect([id, fromSeq, 'tree', await finish(rootOf(focus))]).toEqual([id, fromSeq, 'tree', 'completed']);
      expect((await store.log.head(focus))?.record.status).toBe('completed');
    }
  }
  expect(await Promise.all(tree.map(rows))).toEqual(before);
  await engine.close();
});

test('a fork of a fork of a tree cuts the tree that it stands in', async () => {
  const { engine, finish, begin, rows, store, seen } = office();
  for (const definition of [leaf, middle]) await engine.register('t', definition);
  const source = await begin(engine, wide);
  await seen(`${source}.1.0` as RunId, 'node.suspended');
  const first = await branched(engine, `${source}.1.0` as RunId, (await rows(`${source}.1.0` as RunId)).length, true);
  await seen(first, 'cairn.run.forked');
  const second = await branched(engine, first, (await rows(first)).length, true);
  expect(present(await store.log.head(second)).record).toMatchObject({
    parentRunId: `${rootOf(second)}.1`,
    fork: { sourceRunId: first },
  });
  for (const root of [rootOf(second), rootOf(first), source]) expect(await finish(root)).toBe('completed');
  // A replay of the source has its children from the record, and a branch of it cuts them there.
  const replay = await engine.fork({ tenant: 't', runId: source, mode: 'replay', fromSeq: 3 });
  await seen(replay.runId as RunId, 'run.completed');
  const dispatched = (await rows(source)).findLastIndex(({ type }) => type === 'node.dispatched');
  const branch = await branched(engine, replay.runId as RunId, dispatched + 1);
  const inner = present(await store.log.head(`${branch}.1` as RunId));
  expect(inner.record.fork).toMatchObject({ sourceRunId: `${source}.1` });
  expect(await finish(branch)).toBe('completed');
  await engine.close();
});

test('the timers of a forked child have as much time left as they had at the cut', async () => {
  const { engine, begin, clock, seen, rows, store } = office();
  await engine.register('t', named('sleeper', chain({ typeId: 'core.delay', config: { durationMs: 60_000 } })));
  const held = heldStep('work');
  await engine.close();
  const host = bench(store);
  const other = host.node('n2', [held.step]);
  const both = named('both', { ...chain(sub('sleeper'), held.step.typeId), edges: [] });
  const source = await begin(other, both);
  await seen(`${source}.0` as RunId, 'cairn.timer.set');
  const { call, at } = { call: await held.called(1), at: host.clock.now() };
  host.clock.advance(20_000);
  call.resolve({});
  await seen(source, 'node.completed');
  host.clock.advance(500_000);
  const cut = (await rows(source)).findIndex(({ type }) => type === 'node.completed') + 1;
  const fork = await branched(other, source, cut);
  const forked = (await rows(`${fork}.0` as RunId)).find(({ type }) => type === 'cairn.run.forked');
  expect(JSON.parse(present(forked).payload)).toMatchObject({ cutAt: at + 20_000 });
  await settled();
  const now = host.clock.now();
  host.clock.advanceTo(now + 39_999);
  await settled();
  expect((await store.log.head(`${fork}.0` as RunId))?.record.endedAt).toBeNull();
  host.clock.advanceTo(now + 40_000);
  await seen(`${fork}.0` as RunId, 'run.completed');
  expect(clock.now()).toBeLessThan(now);
  await other.close();
});

test.each([
  ['more runs are active than one fork begins', 300, 'Short.', { maxRuns: 300 }],
  ['the runs would write too much', 80, 'x'.repeat(120_000), { maxBytes: 8_388_608 }],
])('a cut where %s is refused, and nothing of it is there', async (_, count, prompt, details) => {
  const { engine, begin, store } = office();
  await engine.register('t', leaf);
  const crowd = named('crowd', { ...chain(...Array.from({ length: count }, () => sub('leaf'))), edges: [] });
  const source = await begin(engine, crowd);
  const runs = async () => (await store.runIndex.list({ tenant: 't', limit: 1_000 })).runs.length;
  while ((await runs()) < count + 1) await settled();
  const fromSeq = present(await store.log.head(source)).seq + 1;
  const overlay = { prompts: { 'host:nobody': prompt } };
  const refused = engine.fork({ tenant: 't', runId: source, mode: 'branch', fromSeq, overlay });
  await expect(refused).rejects.toMatchObject({ code: 'conflict', details });
  expect(await runs()).toBe(count + 1);
  await engine.close();
});
