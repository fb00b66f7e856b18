import { isCairnError, TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { OperatorNotice } from '../../engine/ports.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { redactedReport } from './redacted-report.ts';

const SECRET = 'sk-0123456789abcdef';

function heard(notice: OperatorNotice): OperatorNotice {
  const notices: OperatorNotice[] = [];
  redactedReport((one) => void notices.push(one), createRedactor([{ name: 'key', value: SECRET }]))(notice);
  return notices[0] as OperatorNotice;
}

test('takes secrets out of the message and the facts', () => {
  const facts = {
    run: `x${SECRET}`,
    list: [Buffer.from(SECRET).toString('base64')],
    [SECRET]: 1,
    error: new Error(SECRET),
  };
  const notice = heard({ level: 'warn', event: 'request.failed', message: `no ${SECRET}`, facts });
  expect(notice).toMatchObject({ level: 'warn', message: 'no [REDACTED]' });
  expect(notice.facts).toMatchObject({
    run: 'x[REDACTED]',
    list: [expect.stringContaining('[REDACTED]')],
    '[REDACTED]': 1,
  });
  expect((notice.facts as { error: Error }).error.message).toBe('[REDACTED]');
});

test('an error stays of its kind, without the secrets in its text, trace, particulars and causes', () => {
  const cause = Object.assign(new RangeError(`deep ${SECRET}`), { url: `https://x/?k=${SECRET}` });
  const many = new AggregateError([new Error(`one of many ${SECRET}`)], 'several', { cause });
  const error = new TerminalError('not_found', {
    message: `no ${SECRET}`,
    hint: SECRET,
    details: { SECRET },
    cause: many,
  });
  const { error: said } = heard({ level: 'error', event: 'request.failed', error });
  if (!isCairnError(said, 'not_found')) throw new Error('not of its kind');
  expect(said).toBeInstanceOf(TerminalError);
  expect(said).toMatchObject({ message: 'no [REDACTED]', hint: '[REDACTED]', retryable: false });
  const aggregate = said.cause as AggregateError;
  const all = [said, aggregate, aggregate.cause as Error, ...(aggregate.errors as Error[])];
  const text = all.map((one) => `${one.message} ${one.stack} ${JSON.stringify(Object.getOwnPropertyDescriptors(one))}`);
  expect(text.join('\n')).not.toContain(SECRET);
  expect(said.stack).toContain('redacted-report.test.ts');
  expect(aggregate.cause).toBeInstanceOf(RangeError);
});

test('what holds no secret is passed on as it is', () => {
  const error = new Error('plain', { cause: new Error('as well') });
  const facts = { list: [{ a: 1 }] };
  const notice = heard({ level: 'info', event: 'store.fault', facts, error });
  expect(notice.error).toBe(error);
  expect(notice.facts).toBe(facts);
  expect(heard({ level: 'info', event: 'store.fault' })).toEqual({ level: 'info', event: 'store.fault' });
});

test('particulars that cannot be looked through are left out', () => {
  const round: Record<string, unknown> = { text: SECRET };
  round.self = round;
  const notice = heard({ level: 'error', event: 'store.fault', facts: round, error: new Error(SECRET) });
  expect(JSON.stringify(notice)).not.toContain(SECRET);
  expect(notice).toMatchObject({ event: 'store.fault', facts: { unchecked: expect.any(String) } });
});

test('causes that go round in a circle end', () => {
  const error = new Error(SECRET);
  error.cause = error;
  const { error: said } = heard({ level: 'error', event: 'store.fault', error });
  expect((said as Error).message).toBe('[REDACTED]');
});
