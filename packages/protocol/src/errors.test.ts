import { expect, test } from 'vitest';
import { errorEnvelope, exitOfCode, statusOfCode, toEnvelope } from './error-envelope.ts';
import {
  CairnError,
  type ErrorCode,
  errorKinds,
  invariant,
  isCairnError,
  quoted,
  RetryableError,
  TerminalError,
} from './errors.ts';

test.each(Object.keys(errorKinds) as ErrorCode[])('%s is snake_case with an HTTP status and an exit code', (code) => {
  expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  expect(statusOfCode(code)).toBeGreaterThanOrEqual(400);
  expect(statusOfCode(code)).toBeLessThan(600);
  expect([1, 2, 3, 4, 5]).toContain(exitOfCode(code));
});

test('an envelope has exactly a code, a message and the details with the hint', () => {
  const error = new TerminalError('not_found', {
    message: 'There is no run r.',
    hint: 'Check the id.',
    details: { runId: 'r' },
  });
  expect(toEnvelope(error)).toEqual({
    error: 'not_found',
    message: 'There is no run r.',
    details: { runId: 'r', hint: 'Check the id.' },
  });
});

test('an envelope without anything to add has no details, and never an empty message', () => {
  const envelope = toEnvelope(new RetryableError('store_full', { message: '' }));
  expect(envelope).toEqual({ error: 'store_full', message: 'store_full' });
  expect(errorEnvelope.safeParse(envelope).success).toBe(true);
  expect(errorEnvelope.safeParse({ ...envelope, status: 503 }).success).toBe(false);
});

test('errors are recognised by code, whatever copy of the package made them', () => {
  const error = new TerminalError('conflict', { message: 'm' });
  expect([isCairnError(error), isCairnError(error, 'conflict'), isCairnError(error, 'not_found')]).toEqual([
    true,
    true,
    false,
  ]);
  for (const other of [new Error('conflict'), { code: 'conflict' }, null, 'conflict'])
    expect(isCairnError(other)).toBe(false);
  const foreign = Object.assign(new Error('m'), { code: 'conflict', [Symbol.for('cairn.error')]: true });
  expect(isCairnError(foreign, 'conflict')).toBe(true);
});

test('only the retryable family invites another try', () => {
  expect(new TerminalError('conflict', { message: 'm' }).retryable).toBe(false);
  expect(new RetryableError('lease_lost', { message: 'm' }).retryable).toBe(true);
});

test('the cause of an error is kept', () => {
  const cause = new Error('disk');
  expect(new CairnError('store_failed', { message: 'm', cause }).cause).toBe(cause);
  expect('cause' in new CairnError('store_failed', { message: 'm' })).toBe(false);
});

test('a broken invariant is an internal error that names itself and its facts', () => {
  expect(() => invariant(true, 'fine')).not.toThrow();
  expect(() => invariant(false, 'run-seq-dense', { seq: 3 })).toThrow(
    expect.objectContaining({ code: 'internal_error', message: expect.stringContaining('run-seq-dense: {"seq":3}') }),
  );
});

test('outside text is quoted and cut', () => {
  expect(quoted('a"b\n')).toBe('"a\\"b\\n"');
  expect(quoted('x'.repeat(300))).toHaveLength(203);
});
