import { expect, test } from 'vitest';
import { TenantShares } from './tenant-shares.ts';

const clock = { now: 0 };
const shares = (limits: ConstructorParameters<typeof TenantShares>[0]) => new TenantShares(limits, () => clock.now);
const refusal = (limit: string) =>
  expect.objectContaining({ code: 'rate_limited', details: expect.objectContaining({ limit }) });

test('a start beyond the active runs is refused until one of them ends or rests, and other tenants are not', () => {
  const host = shares({ maxActiveRunsPerTenant: 2 });
  for (const _ of [1, 2]) {
    host.start('a');
    host.runOpened('a');
  }
  expect(() => host.start('a')).toThrow(refusal('2 active runs'));
  host.start('b');
  host.runClosed('a');
  host.start('a');
});

test('starts are counted per second, those of children too, which are never refused', () => {
  const host = shares({ maxStartsPerSecondPerTenant: 3 });
  host.start('a');
  for (const _ of [1, 2, 3]) host.startChild('a');
  expect(() => host.start('a')).toThrow(refusal('3 starts a second'));
  expect(host.usage('a').recentStarts).toBe(3);
  host.start('b');
  clock.now += 400;
  host.start('a');
});

test('a call beyond the open ones waits for the end of another, in order', () => {
  const host = shares({ maxOpenCallsPerTenant: 1 });
  const begun: string[] = [];
  const wait = (name: string, isWanted = true) =>
    host.waitForCall('a', () => {
      if (isWanted) begun.push(name);
      return isWanted;
    });
  expect(host.takeCall('a')).toBe(true);
  expect(host.takeCall('a')).toBe(false);
  expect(host.takeCall('b')).toBe(true);
  wait('first');
  wait('aborted', false);
  wait('second');
  expect(host.usage('a')).toMatchObject({ openCalls: 1, waitingCalls: 3 });
  host.endCall('a');
  expect(begun).toEqual(['first']);
  host.endCall('a');
  expect(begun).toEqual(['first', 'second']);
  host.endCall('a');
  expect(host.usage('a')).toMatchObject({ openCalls: 0, waitingCalls: 0 });
});

test('a tenant that uses nothing is forgotten', () => {
  const host = shares({});
  host.runOpened('a');
  host.takeCall('b');
  expect(host.tenants()).toEqual(['a', 'b']);
  host.runClosed('a');
  host.endCall('b');
  expect(host.tenants()).toEqual([]);
});

test('the calls of a tenant, and all calls together, share the emissions that may wait for the disk', () => {
  const host = shares({});
  const open = (tenant: string, count: number) => {
    for (let i = 0; i < count; i++) host.takeCall(tenant);
  };
  open('a', 1);
  expect(host.emissionWindow('a')).toBe(128);
  open('a', 399);
  expect(host.emissionWindow('a') * 400).toBeLessThanOrEqual(1_024);
  open('b', 1);
  expect(host.emissionWindow('b')).toBeGreaterThanOrEqual(10);
  for (let i = 0; i < 9_999; i++) open(`t${i}`, 1);
  expect([host.emissionWindow('a'), host.emissionWindow('t0')]).toEqual([1, 1]);
  for (let i = 0; i < 9_999; i++) host.endCall(`t${i}`);
  for (let i = 0; i < 400; i++) host.endCall('a');
  expect(host.emissionWindow('b')).toBe(128);
});

test('calls that emit much leave the event loop to others, and tenants take turns', async () => {
  const turns: (() => void)[] = [];
  const loop = { elapsedMs: () => 0, nextTurn: (go: () => void) => void turns.push(go) };
  const host = new TenantShares({}, () => 0, loop);
  const order: string[] = [];
  const call = async (tenant: string, emissions: number) => {
    for (let i = 0; i < emissions; i += 1) {
      order.push(tenant);
      await host.emitted(tenant, 64);
    }
  };
  void call('loud', 40);
  void call('loud', 40);
  void call('quiet', 2);
  const perTurn: number[] = [];
  while (turns.length > 0 || perTurn.length === 0) {
    const before = order.length;
    for (const go of turns.splice(0)) go();
    for (let i = 0; i < 100; i += 1) await null;
    perTurn.push(order.length - before);
  }
  expect(order).toHaveLength(82);
  // Four emissions fill a turn; the first one of each call comes before it waits.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(6);
  expect(order.lastIndexOf('quiet')).toBeLessThan(12);
});
