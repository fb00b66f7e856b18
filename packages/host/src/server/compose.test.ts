import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reportTo, systemClock } from './compose.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a wall clock that is set back does not hold up who waits', () => {
  const wake = vi.fn();
  systemClock.wakeAt(1_005_000, wake);
  vi.setSystemTime(1_000_000 - 3_600_000);
  vi.advanceTimersByTime(4_999);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledOnce();
});

test('an instant further away than a timer reaches is waited for all the same, and can be called off', () => {
  const year = 365 * 86_400_000;
  const [wake, off] = [vi.fn(), vi.fn()];
  systemClock.wakeAt(1_000_000 + year, wake);
  const callOff = systemClock.wakeAt(1_000_000 + year, off);
  vi.advanceTimersByTime(year - 1);
  expect(wake).not.toHaveBeenCalled();
  callOff();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledOnce();
  expect(off).not.toHaveBeenCalled();
});

test('an instant that has passed wakes at the next turn', () => {
  const wake = vi.fn();
  systemClock.wakeAt(5, wake);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledOnce();
});

test('a notice is one line of JSON: the event to search for, its facts, the error, and a sentence for people', () => {
  const lines: string[] = [];
  const report = reportTo({ write: (line) => void lines.push(line) });
  const error = new Error('disk', { cause: new Error('full') });
  report({ level: 'warn', event: 'store.append_failed', facts: { runId: 'run_1' }, error });
  report({ level: 'info', event: 'jwks.recovered', message: 'All is well.' });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 40,
      time: 1_000_000,
      event: 'store.append_failed',
      runId: 'run_1',
      err: { type: 'Object', message: 'disk: full', stack: expect.any(String) },
      msg: 'An append failed. The host tries again.',
    },
    { level: 30, time: 1_000_000, event: 'jwks.recovered', msg: 'All is well.' },
  ]);
});

test('no text in a notice forges a second line or steers a terminal', () => {
  const written: string[] = [];
  const report = reportTo({ write: (line) => void written.push(line) });
  const steers = 'x\n{"level":30,"event":"forged"}\r\n\u0085\u2028\u2029\u001b[2J\u009b31m\u202e\u007f';
  report({
    level: 'warn',
    event: 'run.stopped',
    message: steers,
    facts: { [steers]: steers },
    error: new Error(steers),
  });
  const text = written.join('');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
  expect(text.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
  expect(text.endsWith('\n')).toBe(true);
  expect(JSON.parse(text)).toMatchObject({ event: 'run.stopped', msg: steers, [steers]: steers });
});
