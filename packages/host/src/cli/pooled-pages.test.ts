/** A host gives memory back that V8 keeps after a peak, while it goes on with its work. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PoolChoice, PoolEstimate } from '../../bin/pooled-pages.mjs';

async function besideHeap(wanted?: number): Promise<number> {
  const execArgv = ['--max-old-space-size=640', '--max-semi-space-size=32'];
  const args = wanted === undefined ? [] : [String(wanted)];
  const child = fork(join(import.meta.dirname, 'after-a-peak.kit.ts'), args, { execArgv });
  const [message] = (await once(child, 'message')) as [{ readonly besideHeap: number }];
  await once(child, 'exit');
  return message.besideHeap;
}

test('pages that V8 has freed into its pool go back to the system', { timeout: 60_000 }, async () => {
  const kept = await besideHeap();
  const wanted = kept * 0.75;
  expect(await besideHeap(wanted)).toBeLessThan(wanted);
});

const MIB = 1_048_576;

test('the pool is emptied before that makes a long pause', () => {
  const pool = new PoolEstimate();
  expect(pool.isLarge(300 * MIB)).toBe(false);
  expect(pool.isLarge(330 * MIB)).toBe(true);
  pool.collected(290 * MIB);
  expect(pool.isLarge(320 * MIB)).toBe(false);
  // 340 of them: what collections left, and a pool of 64 MiB at most.
  expect(pool.isLarge(340 * MIB)).toBe(true);
});

test('memory beside the heap that is no pool is left alone after a few collections', () => {
  const pool = new PoolEstimate();
  let collections = 0;
  for (; pool.isLarge(500 * MIB); collections += 1) pool.collected(500 * MIB);
  expect(collections).toBe(2);
  // Once it was given back, the pool is looked for again.
  expect(pool.isLarge(260 * MIB)).toBe(false);
  expect(pool.isLarge(330 * MIB)).toBe(true);
});

/** Looks at a process with so much memory, of which this lies beside the heap. */
function choosing() {
  const choice = new PoolChoice();
  const memory = (rssMib: number, besideMib: number) => ({
    rss: rssMib * MIB,
    heapTotal: (rssMib - besideMib) * MIB,
    external: 0,
  });
  const look = (now: number, utilization: number, rssMib = 600, besideMib = 400) =>
    choice.look({ memory: memory(rssMib, besideMib), utilization, now });
  const collected = (now: number, besideMib: number) => choice.collected({ memory: memory(600, besideMib), now });
  return { look, collected };
}

test('a calm host with a large pool begins a collection that empties it, and goes on as usual after it', () => {
  const { look, collected } = choosing();
  expect(look(0, 0.1, 600, 300)).toBeNull();
  expect(look(500, 0.4)).toBeNull();
  expect(look(1_000, 0.1)).toBe('begin');
  expect(look(1_050, 0.1)).toBeNull();
  expect(collected(1_100, 300)).toBe('usual');
  // The next one is not before five seconds later.
  expect(look(1_600, 0.1)).toBeNull();
  expect(look(6_200, 0.1)).toBe('begin');
});

test('what was begun in a calm moment is taken back when load begins', () => {
  const { look } = choosing();
  expect(look(0, 0.1)).toBe('begin');
  // The collection takes some of the time itself.
  expect(look(50, 0.4)).toBeNull();
  expect(look(100, 0.9)).toBe('usual');
  expect(look(600, 0.1)).toBeNull();
  expect(look(5_200, 0.1)).toBe('begin');
});

test('with little memory left the pool is emptied under load, and that is not taken back', () => {
  const { look } = choosing();
  expect(look(0, 0.9, 880)).toBeNull();
  expect(look(500, 0.9, 900)).toBe('reduce');
  expect(look(1_000, 0.9, 700)).toBeNull();
  const calm = choosing();
  expect(calm.look(0, 0.1, 900)).toBe('begin');
  expect(calm.look(50, 0.9, 900)).toBeNull();
});
