/** A host gives memory back that V8 keeps after a peak, while it goes on with its work. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PoolEstimate } from '../../bin/pooled-pages.mjs';

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
