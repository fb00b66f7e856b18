import { expect, test } from 'vitest';
import { present } from './present.ts';
import { VirtualClock } from './virtual-clock.ts';

test('wakes nobody before the instant asked for', () => {
  const clock = new VirtualClock(100);
  const woken: number[] = [];
  clock.wakeAt(150, () => woken.push(clock.now()));
  clock.advanceTo(149);
  expect(woken).toEqual([]);
  clock.advanceTo(500);
  expect(woken).toEqual([150]);
  expect(clock.now()).toBe(500);
});

test('wakes in order of time, and in order of asking for the same instant', () => {
  const clock = new VirtualClock();
  const woken: string[] = [];
  clock.wakeAt(20, () => woken.push('late'));
  clock.wakeAt(10, () => woken.push('first'));
  clock.wakeAt(10, () => woken.push('second'));
  clock.advance(20);
  expect(woken).toEqual(['first', 'second', 'late']);
});

test('wakes also those who ask while it advances', () => {
  const clock = new VirtualClock();
  const woken: number[] = [];
  const again = (): void => {
    woken.push(clock.now());
    if (woken.length < 3) clock.wakeAt(clock.now() + 5, again);
  };
  clock.wakeAt(5, again);
  clock.advanceTo(100);
  expect(woken).toEqual([5, 10, 15]);
});

test('does not wake who was called off', () => {
  const clock = new VirtualClock();
  const woken: string[] = [];
  const callOff = clock.wakeAt(5, () => woken.push('called off'));
  callOff();
  clock.advance(10);
  expect(woken).toEqual([]);
});

test.each([90, 500])('a wake keeps its delay when the clock is set to %i', (set) => {
  const clock = new VirtualClock(100);
  clock.wakeAt(120, () => undefined);
  clock.set(set);
  expect([clock.due(), clock.next()]).toEqual([[], set + 20]);
  clock.pass(19);
  expect(clock.due()).toHaveLength(0);
  clock.pass(1);
  expect(clock.due()).toHaveLength(1);
  expect([clock.now(), clock.waiting]).toEqual([set + 20, 1]);
});

test('wakes at instants between two milliseconds, also after the clock was set', () => {
  const clock = new VirtualClock(1_893_456_000_000);
  let woken = 0;
  const again = () => {
    woken += 1;
    clock.wakeAt(clock.now() + 10 / 3, again);
  };
  clock.wakeAt(clock.now() + 10 / 3, again);
  clock.advance(100);
  clock.set(clock.now() - 12_345.6);
  clock.advance(100);
  expect(woken).toBeGreaterThan(55);
});

test('fires a wake once', () => {
  const clock = new VirtualClock(10);
  let woken = 0;
  clock.wakeAt(5, () => {
    woken += 1;
  });
  const [wake] = clock.due();
  clock.fire(present(wake));
  clock.fire(present(wake));
  expect(woken).toBe(1);
});
