import { expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { type Pending, type PendingKind, Schedule } from './schedule.ts';

const pending = (kind: PendingKind, life: string, label: string): Pending => ({
  kind,
  life,
  label,
  happen: () => undefined,
});

test('lets a later write overtake an earlier one', () => {
  const orders = new Set(
    Array.from({ length: 40 }, (_, seed) => {
      const schedule = new Schedule();
      for (const label of ['first', 'second', 'third']) schedule.add(pending('write', 'a1', label));
      const random = createRandom(seed);
      return [0, 1, 2].map(() => present(schedule.take('write', random)).label).join();
    }),
  );
  expect(orders.size).toBe(6);
});

test('keeps notices of one node in the order of the commits', () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const schedule = new Schedule();
    for (const label of ['1', '2', '3']) {
      schedule.add(pending('notice', 'a1', label));
      schedule.add(pending('notice', 'b1', label));
    }
    const random = createRandom(seed);
    const heard: Record<string, string> = { a1: '', b1: '' };
    for (let i = 0; i < 6; i += 1) {
      const notice = present(schedule.take('notice', random));
      heard[notice.life] += notice.label;
    }
    expect(heard).toEqual({ a1: '123', b1: '123' });
  }
});

test('takes out all that belongs to a life that ended, and nothing else', () => {
  const schedule = new Schedule();
  schedule.add(pending('step', 'a1', 'mine'));
  schedule.add(pending('step', 'b1', 'yours'));
  expect(schedule.takeAll('step', 'a1').map(({ label }) => label)).toEqual(['mine']);
  expect(schedule.count('step')).toBe(1);
  expect(schedule.has('step', 'a1')).toBe(false);
  expect(schedule.takeOldest()?.label).toBe('yours');
  expect(schedule.size).toBe(0);
});
