import { expect, test } from 'vitest';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { ClusterNode } from './cluster-node.ts';
import { DeliveryJob, RELOAD_MS } from './delivery-job.ts';

function bench() {
  const timers = new ManualTimers();
  const reports: string[] = [];
  const report = ({ event }: { readonly event: string }) => void reports.push(event);
  const { cluster } = inMemoryStore();
  const clusterNode = new ClusterNode({ cluster, node: 'a', leaseMs: 300, now: () => 0, timers, report });
  const loads = { count: 0, fails: false };
  const job = new DeliveryJob(
    { clusterNode, timers, report },
    {
      name: 'webhooks',
      failed: 'webhook.read_failed',
      create: () => ({
        reload: async () => {
          if (loads.fails) throw new Error('no connection');
          loads.count += 1;
        },
        close: async () => undefined,
      }),
    },
  );
  return { timers, reports, clusterNode, loads, job };
}

test('loads subscriptions again at a notice, and now and then without one', async () => {
  const { timers, clusterNode, loads, job } = bench();
  await job.open();
  expect(loads.count).toBe(1);
  await clusterNode.publish('subscriptions.changed', 'webhook');
  await expect.poll(() => loads.count).toBe(2);
  for (const count of [3, 4]) {
    timers.pass(RELOAD_MS);
    await expect.poll(() => loads.count).toBe(count);
  }
  await job.close();
  expect(timers.waiting(RELOAD_MS)).toBe(0);
});

test('loads later what could not be loaded at a notice', async () => {
  const { timers, reports, clusterNode, loads, job } = bench();
  await job.open();
  loads.fails = true;
  await clusterNode.publish('subscriptions.changed', 'webhook');
  await expect.poll(() => reports).toEqual(['webhook.read_failed']);
  loads.fails = false;
  timers.pass(RELOAD_MS);
  await expect.poll(() => loads.count).toBe(2);
  await job.close();
});
