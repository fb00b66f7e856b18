/** Where the next flush is waited for, by how long those before it took. */
import { expect, test } from 'vitest';
import { DiskSpeed } from './disk-speed.ts';

/** Makes so many flushes on a disk. Returns how long the event loop waited for each of those that it waited for. */
function waitsFor(count: number, msOf: (flush: number) => number): readonly number[] {
  const disk = new DiskSpeed();
  const waits: number[] = [];
  for (let flush = 0; flush < count; flush += 1) {
    if (disk.isSlow) disk.passed();
    else {
      waits.push(msOf(flush));
      disk.waited(msOf(flush));
    }
  }
  return waits;
}

test('the event loop waits for a quick disk', () => {
  expect(waitsFor(1_000, () => 0.3).length).toBe(1_000);
});

test('a flush that is a little slow now and then changes little', () => {
  // One in fifty: each puts the next nine in the pool.
  expect(waitsFor(1_000, (flush) => (flush % 50 === 0 ? 1.5 : 0.3)).length).toBe(1_000 - 20 * 9);
});

test('the event loop hardly ever waits for a slow disk, and more seldom the slower it is', () => {
  expect(waitsFor(10_000, () => 5).length).toBe(Math.ceil(10_000 / 101));
  expect(waitsFor(10_000, () => 20).length).toBe(Math.ceil(10_000 / 1_601));
  expect(waitsFor(10_000, () => 200).length).toBe(Math.ceil(10_000 / 4_097));
});

test('a disk that is quick for most flushes and very slow for some stops the event loop seldom', () => {
  const waits = waitsFor(100_000, (flush) => (flush % 20 === 0 ? 20 : 0.3));
  expect(waits.filter((ms) => ms === 20).length).toBeLessThanOrEqual(100_000 / 1_601 + 1);
});
