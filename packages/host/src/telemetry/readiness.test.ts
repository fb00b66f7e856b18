import { RetryableError } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '../server/manual-timers.kit.ts';
import { createReadiness } from './readiness.ts';

const full = new RetryableError('store_full', { message: 'No space is left.', hint: 'Free space.' });

function ready() {
  let now = 1_000_000;
  const health = { wroteAt: 0, failedAt: 0, failure: '' };
  const timers = new ManualTimers();
  const writes: PromiseWithResolvers<void>[] = [];
  const readiness = createReadiness({
    checkpoints: {
      putPosition: () => {
        const write = Promise.withResolvers<void>();
        writes.push(write);
        return write.promise;
      },
    },
    measured: {
      health,
      wrote: () => {
        health.wroteAt = now;
      },
      failed: () => {
        health.failedAt = now;
        health.failure = 'store_full';
      },
    },
    timers,
    now: () => now,
  });
  readiness.engineOpened();
  const pass = (ms: number) => {
    now += ms;
  };
  return { readiness, health, timers, writes, pass, now: () => now };
}

const storeOf = async ({ readiness }: ReturnType<typeof ready>) => (await readiness.check()).store;

describe('readiness', () => {
  it('asks nothing of a store that wrote a moment ago', async () => {
    const host = ready();
    host.health.wroteAt = host.now() - 9_999;
    expect(await storeOf(host)).toBeNull();
    expect(host.writes).toHaveLength(0);
  });

  it('does not believe a store whose last write failed, however recent the one before', async () => {
    const host = ready();
    host.health.wroteAt = host.now() - 10;
    host.health.failedAt = host.now() - 5;
    const asked = storeOf(host);
    host.writes[0]?.reject(full);
    expect(await asked).toBe('a write failed (store_full)');
  });

  it('probes an idle store once a second at most, whoever asks', async () => {
    const host = ready();
    const asked = [storeOf(host), storeOf(host), storeOf(host)];
    expect(host.writes).toHaveLength(1);
    host.writes[0]?.reject(full);
    expect(await Promise.all(asked)).toEqual(Array(3).fill('a write failed (store_full)'));
    host.pass(999);
    expect(await storeOf(host)).toBe('a write failed (store_full)');
    expect(host.writes).toHaveLength(1);
    host.pass(1);
    const again = storeOf(host);
    expect(host.writes).toHaveLength(2);
    host.writes[1]?.resolve();
    expect(await again).toBeNull();
    // And now it wrote a moment ago.
    host.pass(5_000);
    expect(await storeOf(host)).toBeNull();
    expect(host.writes).toHaveLength(2);
  });

  it('gives up on a write that takes too long', async () => {
    const host = ready();
    const asked = storeOf(host);
    host.timers.pass(2_000);
    expect(await asked).toBe('a write takes longer than two seconds');
  });

  it('tells which part is not ready', async () => {
    const host = ready();
    host.health.wroteAt = host.now();
    expect(await host.readiness.check()).toEqual({ store: null, engine: null, server: null });
    host.readiness.stopping();
    expect(await host.readiness.check()).toEqual({ store: null, engine: null, server: 'it is stopping' });
    const closed = createReadiness({
      checkpoints: { putPosition: async () => undefined },
      measured: { health: host.health, wrote: () => undefined, failed: () => undefined },
      timers: host.timers,
      now: host.now,
    });
    expect((await closed.check()).engine).toBe('it has not taken up its runs yet');
  });
});
