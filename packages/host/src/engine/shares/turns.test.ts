/** Turns are counted on an event loop that the test drives: each piece of work takes as long as the test says. */
import { expect, test } from 'vitest';
import type { EventLoop } from '../ports.ts';
import { type TenantsAtWork, Turns, type Urgency } from './turns.ts';

function world(atWork: TenantsAtWork | null = null) {
  let now = 0;
  const later: (() => void)[] = [];
  const loop: EventLoop = { elapsedMs: () => now, nextTurn: (go) => void later.push(go) };
  const turns = new Turns(loop, atWork);
  const order: string[] = [];
  let loopTurns = 0;
  /** Works for some time once its turn has come, and notes it. */
  const work = async (tenant: string, { name = tenant, ms = 0.4, urgency = 'step' as Urgency } = {}) => {
    const waiter = turns.take(tenant, urgency);
    if (waiter !== null) await waiter.turn;
    order.push(name);
    now += ms;
  };
  return {
    turns,
    order,
    work,
    pass: (ms: number) => {
      now += ms;
    },
    /** Lets the loop turn until nobody waits. Returns the longest time between two turns of the loop. */
    async run(): Promise<number> {
      let longest = 0;
      for (let go = later.shift(); go !== undefined; go = later.shift()) {
        const begun = now;
        go();
        await new Promise((resolve) => setImmediate(resolve));
        longest = Math.max(longest, now - begun);
        loopTurns += 1;
      }
      return longest;
    },
    loopTurns: () => loopTurns,
  };
}

const times = (count: number) => Array.from({ length: count }, (_, n) => n);

test('a run that nobody competes with never waits', () => {
  const { turns } = world();
  expect(turns.take('a', 'step')).toBeNull();
  expect(turns.take('a', 'step')).toBeNull();
});

test('a run of another tenant goes before the rest of a long line', async () => {
  const { work, order, run, pass } = world();
  void work('a', { ms: 20 });
  for (const n of times(1_000)) void work('a', { name: `a${n}` });
  pass(1);
  void work('b');
  await run();
  expect(order.indexOf('b')).toBeLessThanOrEqual(3);
  expect(order.length).toBe(1_002);
});

test('the first of a tenant in a slice does not wait for the line of another one', async () => {
  const { turns, work, order, run, pass } = world();
  void work('a', { ms: 7 });
  pass(1.5);
  for (const n of times(10)) void work('a', { name: `a${n}` });
  expect(order).toEqual(['a']);
  void work('b');
  expect(order).toEqual(['a', 'b']);
  expect(turns.take('b', 'step')).not.toBeNull();
  await run();
});

test('turns alternate between tenants, and keep the order of arrival within each', async () => {
  const { work, order, run } = world();
  void work('a', { name: 'first', ms: 20 });
  for (const tenant of ['a', 'b', 'c']) for (const n of times(3)) void work(tenant, { name: `${tenant}${n}` });
  await run();
  expect(order.slice(1)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
});

test('the event loop turns while a line of runs is served', async () => {
  const { work, run, loopTurns } = world();
  for (const _ of times(500)) void work('a', { ms: 1 });
  expect(await run()).toBeLessThanOrEqual(9);
  expect(loopTurns()).toBeGreaterThan(50);
});

test('slices are shorter while tenants share the host', async () => {
  const { work, run } = world();
  void work('a', { ms: 20 });
  for (const _ of times(200)) for (const tenant of ['a', 'b']) void work(tenant, { ms: 0.25 });
  await run();
  for (const _ of times(200)) for (const tenant of ['a', 'b']) void work(tenant, { ms: 0.25 });
  expect(await run()).toBeLessThanOrEqual(1.5);
});

test('a command goes at once although others wait', async () => {
  const { work, order, run } = world();
  void work('a', { ms: 8 });
  for (const n of times(10)) void work('a', { name: `a${n}` });
  void work('b', { name: 'cancel', urgency: 'command' });
  expect(order).toEqual(['a', 'cancel']);
  await run();
});

test('waiting callers and steps alternate, commands before starts, so that neither side starves', async () => {
  const { work, order, run } = world();
  void work('a', { name: 'first', ms: 30 });
  for (const n of times(3)) void work('a', { name: `step${n}` });
  for (const n of times(3)) void work('a', { name: `start${n}`, urgency: 'start' });
  for (const n of times(3)) void work('a', { name: `answer${n}`, urgency: 'command' });
  await run();
  const expected = ['answer0', 'step0', 'answer1', 'step1', 'answer2', 'step2', 'start0', 'start1', 'start2'];
  expect(order.slice(1)).toEqual(expected);
});

test('a waiting run whose caller appears goes first, once', async () => {
  const { turns, work, order, run } = world();
  void work('a', { name: 'first', ms: 20 });
  for (const n of times(5)) void work('a', { name: `a${n}` });
  const hurried = turns.take('a', 'step');
  void hurried?.turn.then(() => order.push('hurried'));
  if (hurried !== null) turns.hurry(hurried);
  await run();
  expect(order).toEqual(['first', 'hurried', 'a0', 'a1', 'a2', 'a3', 'a4']);
});

test('while too much waits for its commit, only commands go on', async () => {
  const { turns, work, order, run } = world();
  turns.composed('a', 600_000);
  void work('a', { name: 'step' });
  void work('b', { name: 'start', urgency: 'start' });
  await run();
  expect(order).toEqual(['start']);
  turns.committed('a', 600_000);
  await run();
  expect(order).toEqual(['start', 'step']);
});

test('on a shared host, rows of one tenant that wait for their commit hold up that tenant alone', async () => {
  const { turns, work, order, run, pass } = world();
  void work('a', { name: 'first', urgency: 'command' });
  void work('b', { name: 'second', urgency: 'command' });
  pass(20);
  await run();
  // Starts with large inputs, more than all rows that may wait while a tenant is alone.
  turns.composed('a', 5_000_000);
  for (const name of ['a0', 'a1']) void work('a', { name });
  void work('b');
  await run();
  expect(order.slice(2)).toEqual(['b']);
  turns.committed('a', 5_000_000);
  await run();
  expect(order.slice(2)).toEqual(['b', 'a0', 'a1']);
});

test('while another tenant is at work on another node, few rows of a tenant are written at once', async () => {
  const turnsTaken: string[] = [];
  let isShared = false;
  const { turns, work, order, run } = world({
    tookTurn: (tenant) => void turnsTaken.push(tenant),
    isStoreShared: () => isShared,
  });
  turns.composed('a', 20_000);
  await work('a', { name: 'alone' });
  await run();
  const alone = turns.maxRows;
  isShared = true;
  void work('a', { name: 'shared' });
  await run();
  expect(order).toEqual(['alone']);
  expect(turns.maxRows).toBeLessThan(alone);
  turns.committed('a', 20_000);
  await run();
  expect(order).toEqual(['alone', 'shared']);
  expect(turnsTaken).toEqual(['a', 'a']);
});

test('appends are smaller while tenants share the host', async () => {
  const { turns, work, run, pass } = world();
  void work('a');
  const alone = turns.maxRows;
  void work('b', { urgency: 'command' });
  await run();
  void work('a');
  expect(turns.maxRows).toBeLessThan(alone);
  await run();
  pass(5_000);
  void work('a');
  await run();
  void work('a');
  expect(turns.maxRows).toBe(alone);
});
