import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { FAILED_AFTER, OPEN_MS, OPENS_AFTER } from './circuit.ts';
import { newDeliveryState, renderState } from './delivery-state.ts';
import { backoffMs } from './pump.ts';
import { PumpBench, refuse, take, turns } from './pump-bench.kit.ts';

test('every row of the type is told once, each run in its order, and nothing else', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  await bench.run('y', 'other');
  bench.start();
  await bench.write('x', 'a', 'b', 'a');
  await bench.write('y', 'a');
  await turns();
  expect(bench.attempts).toEqual(['run_x:1', 'run_x:3']);
  expect(bench.state).toMatchObject({ pending: [], delivered: 2, position: await bench.store.changes.end() });
});

test('the body of a row is read when the row is told, and not when it is found', async () => {
  let found = 0;
  const bench = new PumpBench({
    reads: ({ log, changes }) => ({
      log,
      changes: {
        ...changes,
        // As a large store answers.
        read: async (range) => {
          const page = await changes.read(range);
          if (range.isForPlaces !== true) found += page.rows.reduce((sum, { payload }) => sum + payload.length, 0);
          return { ...page, rows: page.rows.map((row) => ({ ...row, payload: '' })) };
        },
      },
    }),
  });
  await bench.run('x');
  bench.start();
  await bench.write('x', 'a', 'a');
  await turns();
  expect([bench.attempts, found]).toEqual([['run_x:1', 'run_x:2'], 0]);
});

test('of one run one row is on its way at a time; other runs do not wait for it', async () => {
  const bench = new PumpBench();
  for (const name of ['x', 'y']) await bench.run(name);
  const held: (() => void)[] = [];
  bench.receive = (place) =>
    place.startsWith('run_x') ? new Promise((resolve) => held.push(() => resolve(take))) : take;
  bench.start();
  await bench.write('x', 'a', 'a');
  await bench.write('y', 'a', 'a');
  await turns();
  expect(bench.attempts).toEqual(['run_x:1', 'run_y:1', 'run_y:2']);
  held.shift()?.();
  await turns();
  expect(bench.attempts.at(-1)).toBe('run_x:2');
  held.shift()?.();
});

test('a failed row is tried again after 1, 4 and 16 seconds, and its run goes on only after it', async () => {
  const bench = new PumpBench();
  for (const name of ['x', 'y']) await bench.run(name);
  let failures = 3;
  bench.receive = (place) => (place === 'run_x:1' && failures-- > 0 ? refuse : take);
  bench.start();
  await bench.write('x', 'a', 'a');
  await turns();
  const counts: number[] = [];
  for (const ms of [999, 1, 3_999, 1, 15_999, 1]) {
    await bench.time.pass(ms);
    counts.push(bench.attempts.length);
  }
  expect(counts).toEqual([1, 2, 2, 3, 3, 5]);
  expect(bench.attempts).toEqual(['run_x:1', 'run_x:1', 'run_x:1', 'run_x:1', 'run_x:2']);
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(backoffMs)).toEqual([
    1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000, 3_600_000, 3_600_000,
  ]);
});

test('after a restart nothing that was acknowledged is told again and nothing is lost', async () => {
  const bench = new PumpBench();
  for (const name of ['x', 'y', 'z']) await bench.run(name);
  bench.receive = (place) => (place === 'run_y:1' ? refuse : take);
  bench.start();
  await bench.write('x', 'a');
  await bench.write('y', 'a', 'a');
  await bench.write('z', 'a');
  await turns();
  await bench.pump.close();
  expect(bench.state.pending).toEqual([
    { runId: 'run_y', seq: 1 },
    { runId: 'run_y', seq: 2 },
  ]);
  await bench.write('z', 'a');
  bench.attempts.length = 0;
  bench.receive = () => take;
  bench.start();
  await turns();
  expect(bench.attempts.toSorted()).toEqual(['run_y:1', 'run_y:2', 'run_z:2']);
  expect(bench.time.size).toBe(0);
});

test('what is under way when the host stops counts neither as told nor as failed', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  bench.receive = (_place, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(refuse)));
  const pump = bench.start();
  await bench.write('x', 'a');
  await turns();
  await pump.close();
  expect(bench.state).toMatchObject({
    pending: [{ runId: 'run_x', seq: 1 }],
    circuit: { consecutive: 0 },
    lastError: null,
  });
  pump.nudge();
  await bench.write('x', 'a');
  await turns();
  expect(bench.attempts).toHaveLength(1);
});

test('four failures in a row leave the receiver alone for an hour; then one attempt shows whether it is back', async () => {
  const bench = new PumpBench();
  for (const name of ['p', 'q', 'r', 's', 't']) await bench.run(name);
  let isDown = true;
  bench.receive = () => (isDown ? refuse : take);
  bench.start();
  for (const name of ['p', 'q', 'r', 's', 't']) await bench.write(name, 'a');
  await turns();
  expect(bench.attempts.length).toBeGreaterThanOrEqual(OPENS_AFTER);
  const before = bench.attempts.length;
  await bench.time.pass(OPEN_MS - 1);
  expect(bench.attempts).toHaveLength(before);
  await bench.time.pass(1);
  expect(bench.attempts).toHaveLength(before + 1);
  expect(bench.reports.filter((event) => event === 'webhook.paused')).toHaveLength(2);
  isDown = false;
  await bench.time.pass(OPEN_MS);
  await bench.time.pass(OPEN_MS);
  expect(bench.state).toMatchObject({ pending: [], delivered: 5, circuit: { consecutive: 0, openUntil: null } });
});

test('the hour outlives a restart', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  bench.receive = () => refuse;
  bench.start();
  await bench.write('x', 'a');
  await bench.time.pass(1_000 + 4_000 + 16_000);
  expect(bench.attempts).toHaveLength(4);
  await bench.pump.close();
  bench.start();
  await bench.time.pass(OPEN_MS - 1);
  expect(bench.attempts).toHaveLength(4);
  await bench.time.pass(1);
  expect(bench.attempts).toHaveLength(5);
});

test('a row that is never taken is given up after its attempts, remembered, and its run goes on', async () => {
  const bench = new PumpBench({ policy: { maxAttempts: 3, isOneReceiver: false } });
  await bench.run('x');
  bench.receive = (place) => (place === 'run_x:1' ? refuse : take);
  bench.start();
  await bench.write('x', 'a', 'a');
  await bench.time.pass(1_000 + 4_000);
  expect(bench.attempts).toEqual(['run_x:1', 'run_x:1', 'run_x:1', 'run_x:2']);
  expect(bench.state).toMatchObject({
    pending: [],
    delivered: 1,
    deadLetters: [{ runId: 'run_x', sequence: 1, attempts: 3, lastError: 'the receiver answered 500' }],
  });
  expect(bench.reports).toEqual(['webhook.delivery_abandoned']);
});

test('a receiver that is dead for days is given up, and nothing is sent or read for it any more', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  bench.receive = () => refuse;
  bench.start();
  await bench.write('x', ...Array.from({ length: 10 }, () => 'a'));
  await bench.time.pass(FAILED_AFTER * (OPEN_MS + 1));
  const { length } = bench.attempts;
  expect(length).toBeGreaterThan(90);
  expect(bench.reports.filter((event) => event === 'webhook.stopped')).toHaveLength(1);
  await bench.time.pass(24 * OPEN_MS);
  await bench.write('x', 'a');
  await turns();
  expect(bench.attempts).toHaveLength(length);
  expect(bench.time.size).toBe(0);
});

test('no more rows are read ahead than the window holds; the rest waits in the log', async () => {
  const bench = new PumpBench({ policy: { window: 5, maxInFlight: 2 } });
  for (let i = 0; i < 40; i += 1) {
    await bench.run(`r${i}`);
    await bench.write(`r${i}`, ...Array.from({ length: 60 }, () => 'a'));
  }
  let most = 0;
  const held: (() => void)[] = [];
  bench.receive = () => new Promise((resolve) => held.push(() => resolve(take)));
  bench.start();
  await turns();
  expect(held).toHaveLength(2);
  // The least that is read at a time may lie beyond it.
  expect(bench.pump.state.pending.length).toBeLessThanOrEqual(5 + 64);
  while (bench.pump.state.delivered < 2_400) {
    if (held.length === 0) await turns();
    most = Math.max(most, held.length);
    for (const release of held.splice(0)) release();
  }
  await turns();
  expect(most).toBeLessThanOrEqual(2);
  expect(bench.state).toMatchObject({ pending: [], delivered: 2_400 });
});

test('news that comes while the log is read is not missed', async () => {
  let release: (() => void) | null = null;
  const bench = new PumpBench({
    reads: ({ log, changes }) => {
      const read: typeof changes.read = async (range) => {
        const page = await changes.read(range);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return page;
      };
      return { log, changes: { ...changes, read } };
    },
  });
  await bench.run('x');
  bench.start();
  await turns();
  await bench.write('x', 'a');
  for (let i = 0; i < 4; i += 1) {
    (release as (() => void) | null)?.();
    await turns();
  }
  expect(bench.attempts).toEqual(['run_x:1']);
});

test('trouble with the log is told, and read past once it is over', async () => {
  let isBroken = true;
  const bench = new PumpBench({
    reads: ({ log, changes }) => {
      const read: typeof changes.read = (range) => (isBroken ? Promise.reject(new Error('busy')) : changes.read(range));
      return { log, changes: { ...changes, read } };
    },
  });
  await bench.run('x');
  bench.start();
  await bench.write('x', 'a');
  await turns();
  expect(bench.reports[0]).toBe('webhook.read_failed');
  isBroken = false;
  await bench.time.pass(5_000);
  expect(bench.attempts).toEqual(['run_x:1']);
});

test('a log that cannot be read at all is left alone between two looks, however much waits to be told', async () => {
  const gone = () => Promise.reject(new Error('the disk is gone'));
  const bench = new PumpBench({
    reads: ({ log, changes }) => ({ log: { ...log, read: gone }, changes: { ...changes, read: gone } }),
  });
  const pending = Array.from({ length: 20 }, (_, i) => ({ runId: `run_${i}` as RunId, seq: 1 }));
  bench.saved = renderState({ ...newDeliveryState('0'), pending });
  bench.start();
  for (let time = 0; time < 20; time += 1) await bench.time.pass(5_000);
  const seen = bench.reports.length;
  await bench.time.pass(5_000);
  // Each of the twenty once, and the log itself once.
  expect(bench.reports.length - seen).toBeLessThanOrEqual(21);
  expect(bench.time.size).toBeLessThanOrEqual(22);
});

test('trouble of the host’s own is no failure of the receiver', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  let thrown = 6;
  bench.receive = () => {
    if (thrown-- > 0) throw new Error('a defect');
    return take;
  };
  bench.start();
  await bench.write('x', 'a');
  await bench.time.pass(60_000);
  expect(bench.state).toMatchObject({ delivered: 1, lastError: null, circuit: { consecutive: 0 } });
});

test('a state that could not be saved is saved later', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  bench.start();
  bench.failSaves = true;
  await bench.write('x', 'a');
  await turns();
  expect(bench.state.delivered).toBe(0);
  expect(bench.reports).toContain('webhook.save_failed');
  bench.failSaves = false;
  await turns();
  expect(bench.state).toMatchObject({ delivered: 1, pending: [] });
});

test('a position that moves past nothing of interest is saved now and then, not each time', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  bench.start();
  await turns();
  const { saves } = bench;
  for (let i = 0; i < 40; i += 1) {
    await bench.write('x', 'b');
    await turns();
  }
  expect(bench.saves - saves).toBeGreaterThanOrEqual(1);
  expect(bench.saves - saves).toBeLessThanOrEqual(3);
});

test('a long log is read page by page, and others get their turn in between', async () => {
  const bench = new PumpBench();
  await bench.run('x');
  await bench.write('x', ...Array.from({ length: 5_000 }, () => 'b'));
  const end = await bench.store.changes.end();
  bench.start();
  let between = 0;
  while (bench.pump.state.position !== end) {
    between += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(between).toBeGreaterThan(10);
});
