import { expect, test } from 'vitest';
import { settled } from '../../../test/kit/engine-bench.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { startExpiry } from './expire-records.ts';
import { IDEMPOTENCY_RETENTION_MS } from './idempotency.ts';

test('every hour, old records go step by step until none is left', async () => {
  const timers = new ManualTimers();
  const asked: number[] = [];
  const left = [200, 200, 3, 0, 0];
  const stop = startExpiry({
    idempotency: {
      expireSome: async (before) => {
        asked.push(before);
        return left.shift() ?? 0;
      },
    },
    now: () => IDEMPOTENCY_RETENTION_MS + 5,
    timers,
    report: () => undefined,
  });
  expect(asked).toEqual([]);
  timers.pass(3_600_000);
  await settled();
  expect(asked).toEqual([5, 5, 5, 5]);
  timers.pass(3_600_000);
  await settled();
  expect(asked.length).toBe(5);
  await stop();
});

test('a failure is told and tried again an hour later, and a host that stops waits for one step', async () => {
  const timers = new ManualTimers();
  const events: string[] = [];
  let steps = 0;
  let fails = true;
  const stop = startExpiry({
    idempotency: {
      expireSome: async () => {
        steps += 1;
        if (fails) throw new Error('disk');
        return 1;
      },
    },
    now: () => 0,
    timers,
    report: ({ event }) => void events.push(event),
  });
  timers.pass(3_600_000);
  await settled();
  expect([steps, events]).toEqual([1, ['idempotency.expire_failed']]);
  fails = false;
  timers.pass(3_600_000);
  await stop();
  const before = steps;
  await settled();
  expect(steps).toBe(before);
});
