/** The setup file of all tests: a row that its schema refuses must fail the suite that wrote it. */
import { expect, onTestFinished, test } from 'vitest';
import { newRow } from '../../src/log/ports/new-row.ts';

/** Keeps the rejections of one test from the test runner. */
function ownRejections(): readonly unknown[] {
  const reasons: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => reasons.push(reason));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  return reasons;
}

const failed = (payload: object) =>
  newRow({ at: 1, type: 'run.failed', audience: 'client', payload: JSON.stringify(payload) }, null);
const error = { code: 'run_quarantined', message: 'The host died twice.', retryable: false };

test('a row that fits its schema passes, and another one is reported', async () => {
  const reasons = ownRejections();
  failed({ error, durationMs: 1 });
  await new Promise(setImmediate);
  expect(reasons).toEqual([]);
  expect(failed({ error: { ...error, retryable: 'no' }, durationMs: 1 })).toMatchObject({ type: 'run.failed' });
  await new Promise(setImmediate);
  expect(reasons).toMatchObject([{ code: 'validation_error' }]);
});
