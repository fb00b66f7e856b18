import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { ClusterJob, type HeldLease } from './cluster-job.ts';

const LEASE_MS = 300;

function world() {
  const clock = { now: 0 };
  const { cluster } = inMemoryStore();
  const node = (name: string) => {
    const timers = new ManualTimers();
    const log: string[] = [];
    const faults: unknown[] = [];
    const flaky = { isDown: false };
    let lease: HeldLease | null = null;
    const job = new ClusterJob(
      'sweep',
      async (held) => {
        lease = held;
        log.push(`start ${held.fence}`);
        return { close: async () => void log.push('stop') };
      },
      {
        cluster: {
          hold: (request) => (flaky.isDown ? Promise.reject(new Error('no connection')) : cluster.hold(request)),
          release: (request) => cluster.release(request),
        },
        node: name,
        leaseMs: LEASE_MS,
        now: () => clock.now,
        timers,
        report: ({ error }) => void faults.push(error),
      },
    );
    const turn = async () => {
      timers.pass(LEASE_MS / 3);
      for (let i = 0; i < 20; i += 1) await null;
    };
    return { job, log, faults, flaky, turn, isHeld: () => lease?.isHeld() };
  };
  return { clock, node };
}

test('one node runs the job, and the other takes over when the first stops', async () => {
  const { node } = world();
  const [a, b] = [node('a'), node('b')];
  await a.job.open();
  await b.job.open();
  await b.turn();
  expect([a.log, b.log]).toEqual([['start 1'], []]);
  await a.job.close();
  await b.turn();
  expect([a.log, b.log]).toEqual([['start 1', 'stop'], ['start 2']]);
  await b.job.close();
});

test('a node that was paused past its lease knows it, and stops when another has taken over', async () => {
  const { clock, node } = world();
  const [a, b] = [node('a'), node('b')];
  await a.job.open();
  await b.job.open();
  expect(a.isHeld()).toBe(true);
  clock.now = LEASE_MS;
  expect(a.isHeld()).toBe(false);
  await b.turn();
  await a.turn();
  expect([a.log, b.log]).toEqual([['start 1', 'stop'], ['start 2']]);
  expect([a.isHeld(), b.isHeld()]).toEqual([false, true]);
  await Promise.all([a.job.close(), b.job.close()]);
});

test('a lease that ran out and was taken again starts the job anew', async () => {
  const { clock, node } = world();
  const a = node('a');
  await a.job.open();
  clock.now = LEASE_MS;
  await a.turn();
  expect(a.log).toEqual(['start 1', 'stop', 'start 2']);
  expect(a.isHeld()).toBe(true);
  await a.job.close();
});

test('while the store fails, the job goes on until its lease ends, and starts again later', async () => {
  const { clock, node } = world();
  const a = node('a');
  await a.job.open();
  a.flaky.isDown = true;
  clock.now = LEASE_MS / 3;
  await a.turn();
  expect([a.log, a.isHeld(), a.faults.length]).toEqual([['start 1'], true, 1]);
  clock.now = LEASE_MS;
  await a.turn();
  expect(a.log).toEqual(['start 1', 'stop']);
  a.flaky.isDown = false;
  await a.turn();
  expect(a.log).toEqual(['start 1', 'stop', 'start 2']);
  await a.job.close();
});
