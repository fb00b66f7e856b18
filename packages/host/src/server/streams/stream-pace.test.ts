/** Live events are held back while the event loop has no time left, and only then. */
import { expect, test } from 'vitest';
import { ManualTimers } from '../manual-timers.kit.ts';
import { BUSY, HOLD_MS, SPAN_MS, streamPace } from './stream-pace.ts';

/** A loop that worked and waited as long as it is told. */
function loop() {
  const time = { idle: 1_000, active: 1_000 };
  const elapsedMs = () => time.idle + time.active;
  const pace = streamPace({ loopTime: () => ({ ...time }), elapsedMs, timers: new ManualTimers() });
  const spend = (active: number, idle: number): number => {
    time.active += active;
    time.idle += idle;
    return pace.holdMs();
  };
  return { pace, spend };
}

test('a loop that has time holds nothing back, whatever it did before anybody followed', () => {
  const { pace, spend } = loop();
  expect(pace.holdMs()).toBe(0);
  expect(spend(SPAN_MS * (BUSY - 0.1), SPAN_MS)).toBe(0);
});

test('a loop that worked most of the last spans holds back, until it has waited enough in another', () => {
  const { spend } = loop();
  expect(spend(SPAN_MS, 0)).toBe(0);
  expect(spend(SPAN_MS, 0)).toBe(HOLD_MS);
  expect(spend(SPAN_MS * BUSY, SPAN_MS * (1 - BUSY))).toBe(HOLD_MS);
  expect(spend(SPAN_MS * (BUSY - 0.1), SPAN_MS)).toBe(0);
});

test('a loop that was kept once, however long, is not taken for a busy one', () => {
  const { spend } = loop();
  expect(spend(SPAN_MS * 20, 0)).toBe(0);
  expect(spend(SPAN_MS / 5, SPAN_MS)).toBe(0);
  expect(spend(SPAN_MS, 0)).toBe(0);
});

test('short times are looked at together', () => {
  const { spend } = loop();
  expect(spend(SPAN_MS, 0)).toBe(0);
  expect(spend(SPAN_MS / 2, 0)).toBe(0);
  expect(spend(SPAN_MS / 4, 0)).toBe(0);
  expect(spend(SPAN_MS / 4, 0)).toBe(HOLD_MS);
  // What comes is judged by itself again.
  expect(spend(0, SPAN_MS / 2)).toBe(HOLD_MS);
  expect(spend(0, SPAN_MS / 2)).toBe(0);
});
