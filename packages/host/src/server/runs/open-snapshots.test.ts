import { expect, test } from 'vitest';
import type { SnapshotAt } from '../../engine/loading/snapshots.ts';
import { runA } from '../../log/ports/samples.kit.ts';
import { OpenSnapshots } from './open-snapshots.ts';

/** Requests for states of a run. Each load and each answer is over when the test says so. */
function asking() {
  const open = new OpenSnapshots();
  const loads: PromiseWithResolvers<SnapshotAt>[] = [];
  const load = () => {
    const one = Promise.withResolvers<SnapshotAt>();
    loads.push(one);
    return one.promise;
  };
  const ask = (seq: number) => {
    const sent = Promise.withResolvers<void>();
    const got = Promise.withResolvers<number>();
    const over = open.with({ key: runA, seq, load }, (at) => {
      got.resolve(at.seq);
      return sent.promise;
    });
    const send = () => {
      sent.resolve();
      return over;
    };
    return { got: got.promise, over, send };
  };
  const loaded = (index: number, seq: number) =>
    loads[index]?.resolve({ seq, bytes: 1, snapshot: { runId: runA, workflowId: 'wf', status: 'running' } });
  return { ask, loads, loaded };
}

test('requests share a state from the beginning of its load to the end of the last answer', async () => {
  const { ask, loads, loaded } = asking();
  const [one, other] = [ask(4), ask(4)];
  loaded(0, 4);
  expect([await one.got, await other.got, loads.length]).toEqual([4, 4, 1]);
  await one.send();
  const late = ask(4);
  expect([await late.got, loads.length]).toEqual([4, 1]);
  await Promise.all([other.send(), late.send()]);
  ask(4);
  expect(loads).toHaveLength(2);
});

test('a request for a later state is not answered with an older one, and an earlier one gets the newest', async () => {
  const { ask, loads, loaded } = asking();
  const older = ask(4);
  const newer = ask(5);
  loaded(0, 4);
  loaded(1, 5);
  expect([await older.got, await newer.got, loads.length]).toEqual([4, 5, 2]);
  await older.send();
  expect([await ask(4).got, loads.length]).toEqual([5, 2]);
});

test('a load that fails fails for all that wait for it, and the next request tries again', async () => {
  const { ask, loads } = asking();
  const [one, other] = [ask(4), ask(4)];
  loads[0]?.reject(new Error('closed'));
  await expect(one.over).rejects.toThrow('closed');
  await expect(other.over).rejects.toThrow('closed');
  ask(4);
  expect(loads).toHaveLength(2);
});
