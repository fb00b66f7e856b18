import { type RunId, TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { stoppedRuns } from './stopped-runs.ts';

const runId = 'run_a' as RunId;
const tooLarge = new TerminalError('event_too_large', { message: 'The payload is too large.' });

function told() {
  const lines: unknown[] = [];
  const clock = { at: 0, now: () => clock.at };
  return { lines, clock, stopped: stoppedRuns((line) => void lines.push(line), clock) };
}

test('a value beyond a limit is one line without its error, and a defect is told with it', () => {
  const { lines, stopped } = told();
  const defect = new TypeError('nothing there');
  stopped('t', runId)(tooLarge);
  stopped('t', runId)(defect);
  expect(lines).toEqual([
    { level: 'warn', event: 'run.beyond_limit', facts: { runId, tenant: 't', code: 'event_too_large' } },
    { level: 'error', event: 'run.stopped', facts: { runId }, error: defect },
  ]);
});

test('a tenant gets so many lines in a minute, the next one counts the others, and other tenants get theirs', () => {
  const { lines, clock, stopped } = told();
  for (let i = 0; i < 100; i += 1) stopped('t', runId)(tooLarge);
  expect(lines.length).toBe(60);
  stopped('u', runId)(tooLarge);
  expect(lines.at(-1)).toMatchObject({ facts: { tenant: 'u', dropped: 40 } });
  clock.at += 1_000;
  stopped('t', runId)(tooLarge);
  expect(lines.length).toBe(62);
});
