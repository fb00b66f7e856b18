import type { ContextId, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import type { Append, Commit } from '../../packages/host/src/log/ports/event-log.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { Complaints } from './breach.ts';
import type { Interesting } from './coverage.ts';
import { LeaseWatch } from './lease-watch.ts';
import { drawProfile, kindProfile, type Profile } from './profile.ts';
import { Schedule } from './schedule.ts';
import { oneAtATime, StoreLine, type StoreWorld } from './sim-store.ts';

const runId = 'run_1' as RunId;
const payload = JSON.stringify({ workflowId: 'w', definitionHash: 'h', inputs: {}, owner: { tenant: 't' } });
const begin: Append = {
  runId,
  rows: [{ at: 1, type: 'run.started', audience: 'client', payload, task: null }],
  create: { tenant: 't', contextId: 'ctx_1' as ContextId, originRunId: runId },
};

function lineWith(faults: Partial<Profile>) {
  const complaints = new Complaints();
  const counted: Interesting[] = [];
  const count = (name: Interesting) => void counted.push(name);
  const world: StoreWorld = {
    base: inMemoryStore(),
    forks: { asked: () => undefined },
    schedule: new Schedule(),
    random: createRandom(1),
    leases: new LeaseWatch(complaints.complain, count, () => true),
    complain: complaints.complain,
    count,
    note: () => undefined,
    inOrder: oneAtATime(),
    profile: { ...kindProfile(drawProfile(createRandom(1))), ...faults },
    diskFull: false,
  };
  return { world, line: new StoreLine('a1', world), counted, complaints };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

test('passes everything through when nothing goes wrong', async () => {
  const { line, world } = lineWith({});
  const heard: Commit[] = [];
  line.log.follow((commit) => heard.push(commit));
  expect(await outcome(line.log.append(begin))).toBe('done');
  expect((await world.base.log.head(runId))?.seq).toBe(0);
  expect(heard).toHaveLength(1);
});

test('holds a write until the scheduler lets it through', async () => {
  const { line, world } = lineWith({ heldWrite: 1 });
  const done = outcome(line.log.append(begin));
  await settle();
  expect(await world.base.log.head(runId)).toBeNull();
  present(world.schedule.takeOldest()).happen();
  expect(await done).toBe('done');
});

test('fails a write without a trace of it', async () => {
  const { line, world } = lineWith({ failedWrite: 1 });
  expect(await outcome(line.log.append(begin))).toBe('store_failed');
  expect(await world.base.log.head(runId)).toBeNull();
});

test('loses the answer of a write that was made', async () => {
  const { line, world } = lineWith({ lostReply: 1 });
  expect(await outcome(line.log.append(begin))).toBe('store_failed');
  expect((await world.base.log.head(runId))?.seq).toBe(0);
});

test('makes a write late although its caller was told that it failed', async () => {
  const { line, world } = lineWith({ lateLanding: 1 });
  expect(await outcome(line.log.append(begin))).toBe('store_failed');
  expect(await world.base.log.head(runId)).toBeNull();
  present(world.schedule.takeOldest()).happen();
  await settle();
  expect((await world.base.log.head(runId))?.seq).toBe(0);
});

test('tears every append of a batch and leaves nothing of it', async () => {
  const { line, world, counted } = lineWith({ heldWrite: 1 });
  const both = [outcome(line.log.append(begin)), outcome(line.log.append({ ...begin, runId: 'run_2' as RunId }))];
  line.tear();
  expect(await Promise.all(both)).toEqual(['store_failed', 'store_failed']);
  expect(counted.filter((name) => name === 'write torn')).toHaveLength(2);
  expect((await world.base.runIndex.list({ tenant: 't', limit: 10 })).runs).toEqual([]);
});

test('says that the disk is full while it is', async () => {
  const { line, world } = lineWith({});
  world.diskFull = true;
  expect(await outcome(line.log.append(begin))).toBe('store_full');
  world.diskFull = false;
  expect(await outcome(line.log.append(begin))).toBe('done');
});

test('never answers a node that died, whether or not its write arrived', async () => {
  const { line, world } = lineWith({ heldWrite: 1 });
  let answered = false;
  void outcome(line.log.append(begin)).then(() => {
    answered = true;
  });
  line.kill();
  await settle();
  expect(answered).toBe(false);
  expect(world.schedule.size).toBe(0);
});

test('tells a node of commits in order even when it hears of them late', async () => {
  const { line, world } = lineWith({ lateNotice: 1 });
  const heard: string[] = [];
  line.log.follow((commit) => heard.push(commit.runId));
  for (const id of ['run_1', 'run_2', 'run_3']) {
    await line.log.append({
      ...begin,
      runId: id as RunId,
      create: { ...present(begin.create), originRunId: id as RunId },
    });
  }
  expect(heard).toEqual([]);
  while (world.schedule.size > 0) present(world.schedule.take('notice', world.random)).happen();
  expect(heard).toEqual(['run_1', 'run_2', 'run_3']);
});

test('notices a node that writes after it stopped', () => {
  const { line, complaints } = lineWith({});
  line.retire();
  void line.queue.renew({ owner: 'a1', until: 9 });
  expect(complaints.first?.invariant).toBe('a closed engine writes no more');
});
