import { expect, test } from 'vitest';
import { TenantShares } from '../../engine/shares/tenant-shares.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Caller } from '../access/auth.ts';
import { Limits } from '../access/limits.ts';
import { CallLimit } from '../catalogue/call-limit.ts';
import { ManualTimers } from '../manual-timers.kit.ts';
import { BEAT_MS, UsageExchange } from './usage-exchange.ts';

const caller = { tenant: 't', credential: 'key:a' } as Caller;
const access = {
  maxRequestsInFlightPerKey: 100,
  maxRequestsPerSecondPerKey: 10,
  maxRequestsPerSecondPerTenant: 100,
  maxOpenStreamsPerKey: 3,
  maxOpenStreamsPerTenant: 3,
  maxFailedAuthPerMinute: 4,
};

function world() {
  const clock = { now: 0 };
  const { cluster } = inMemoryStore();
  const node = (name: string) => {
    const now = () => clock.now;
    const shares = new TenantShares(
      { maxActiveRunsPerTenant: 2, maxStartsPerSecondPerTenant: 4, maxOpenCallsPerTenant: 2 },
      now,
    );
    const limits = new Limits(access, now);
    const calls = new CallLimit(3, now);
    const timers = new ManualTimers();
    const exchange = new UsageExchange([shares, calls, limits], {
      cluster,
      node: name,
      now,
      timers,
      report: () => undefined,
    });
    const beat = async () => {
      timers.pass(BEAT_MS);
      for (let i = 0; i < 20; i += 1) await null;
    };
    return { shares, limits, calls, exchange, beat };
  };
  return { clock, node };
}

async function two() {
  const { clock, node } = world();
  const [a, b] = [node('a'), node('b')];
  await a.exchange.open();
  await b.exchange.open();
  await a.beat();
  return { clock, a, b, beat: async () => [await a.beat(), await b.beat(), await a.beat()] };
}

const refused = expect.objectContaining({ code: 'rate_limited' });

test('a tenant that fills its active runs on one node is refused on all, until they end', async () => {
  const { a, b, beat } = await two();
  a.shares.runOpened('t');
  a.shares.runOpened('t');
  await beat();
  expect(() => b.shares.start('t')).toThrow(refused);
  b.shares.start('other');
  expect(b.shares.usageOnAllNodes('t')).toMatchObject({ activeRuns: 2 });
  expect(b.shares.usage('t')).toMatchObject({ activeRuns: 0 });
  a.shares.runClosed('t');
  await beat();
  b.shares.start('t');
});

test('starts per second are those of all nodes together', async () => {
  const { clock, a, b, beat } = await two();
  for (let i = 0; i < 4; i += 1) a.shares.start('t');
  await beat();
  expect(() => b.shares.start('t')).toThrow(refused);
  await beat();
  clock.now += 250;
  b.shares.start('t');
  expect(() => b.shares.start('t')).toThrow(refused);
});

test('a call waits for calls on other nodes, and goes on when they end', async () => {
  const { a, b, beat } = await two();
  expect([a.shares.takeCall('t'), a.shares.takeCall('t')]).toEqual([true, true]);
  await beat();
  expect(b.shares.takeCall('t')).toBe(false);
  const begun: string[] = [];
  for (const name of ['first', 'second']) b.shares.waitForCall('t', () => begun.push(name) > 0);
  await beat();
  expect(begun).toEqual([]);
  a.shares.endCall('t');
  await beat();
  expect(begun).toEqual(['first']);
  expect(b.shares.usageOnAllNodes('t')).toMatchObject({ openCalls: 2, waitingCalls: 1 });
});

test('open streams, requests per second and failed attempts count on all nodes', async () => {
  const { a, b, beat } = await two();
  for (let i = 0; i < 3; i += 1) a.limits.hold(caller);
  for (let i = 0; i < 10; i += 1) a.limits.request(caller);
  for (let i = 0; i < 4; i += 1) a.limits.failure('10.0.0.1');
  await beat();
  expect(() => b.limits.hold(caller)).toThrow(refused);
  expect(() => b.limits.request(caller)).toThrow(refused);
  expect(() => b.limits.checkAddress('10.0.0.1')).toThrow(refused);
  b.limits.checkAddress('10.0.1.1');
  expect([b.limits.openStreams('t'), b.limits.openStreamsOnAllNodes('t')]).toEqual([0, 3]);
});

test('calls of a tool a minute are those of all nodes together', async () => {
  const { clock, a, b, beat } = await two();
  const call = ({ calls }: typeof a) => calls.take('t', 'ann', 'host:search');
  expect([call(a), call(a)]).toEqual([0, 0]);
  await beat();
  expect([call(b), call(b)]).toEqual([0, 20_000]);
  expect(b.calls.take('t', 'ben', 'host:search')).toBe(0);
  await beat();
  expect(call(a)).toBe(20_000);
  clock.now += 20_000;
  expect(call(a)).toBe(0);
});

test('what a node used is forgotten once it is gone, in order or not', async () => {
  const { clock, a, b, beat } = await two();
  a.shares.runOpened('t');
  a.shares.runOpened('t');
  await beat();
  await a.exchange.close();
  await b.beat();
  b.shares.start('t');
  const { a: c, b: d, clock: later } = await two();
  c.shares.runOpened('t');
  c.shares.runOpened('t');
  await c.beat();
  await d.beat();
  expect(() => d.shares.start('t')).toThrow(refused);
  later.now += 5 * BEAT_MS;
  await d.beat();
  d.shares.start('t');
  expect(clock.now).toBe(0);
});

test('nodes hear which tenants are at work on others, until they are not', async () => {
  const { a, b } = await two();
  a.shares.tookTurn('t');
  await a.beat();
  await b.beat();
  expect([b.shares.isStoreShared('other'), b.shares.isStoreShared('t')]).toEqual([true, false]);
  expect(a.shares.isStoreShared('other')).toBe(false);
  await a.beat();
  await b.beat();
  expect(b.shares.isStoreShared('other')).toBe(false);
});
