import { expect, test } from 'vitest';
import { normalise } from './normalise.ts';

const event = (payload: object) => ({ type: 'node.completed', payload, timestamp: '2026-01-02T03:04:05.678Z' });

test('two runs that differ only in ids, instants and durations are equal', () => {
  const run = (id: string, ms: number) => [
    event({ runId: `run_${id}`, childRunId: `run_${id}.1`, durationMs: ms, note: `took ${ms} ms` }),
    event({ runId: `run_${id}` }),
  ];
  expect(normalise([run('aaaaaaaa', 5)])).toEqual(normalise([run('bbbbbbbb', 70)]));
});

test('the token of a run is one of its ids, wherever it stands', () => {
  const run = (token: string, other = token) => [
    event({ idToken: token, nodes: ['a'] }),
    event({ callId: `call_${token}_a#0.0/t0.0`, body: JSON.stringify({ idToken: token, of: `inv_${other}_a` }) }),
  ];
  expect(normalise([run('0123456789ab')])).toEqual(normalise([run('ba9876543210')]));
  expect(normalise([run('0123456789ab', 'cccccccccccc')])).not.toEqual(normalise([run('0123456789ab')]));
});

test('a trace and its spans are ids', () => {
  const run = (digit: string, isSampled = '00') => [
    event({ traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-${isSampled}` }),
  ];
  expect(normalise([run('a')])).toEqual(normalise([run('b')]));
  expect(normalise([run('a')])).not.toEqual(normalise([run('a', '01')]));
});

test('another value, another order of keys and another id in place of a known one are differences', () => {
  const base = normalise([
    [event({ runId: 'run_aaaaaaaa', outputs: { a: 1, b: 2 } }), event({ runId: 'run_aaaaaaaa' })],
  ]);
  const others = [
    [event({ runId: 'run_aaaaaaaa', outputs: { a: 1, b: 3 } }), event({ runId: 'run_aaaaaaaa' })],
    [event({ runId: 'run_aaaaaaaa', outputs: { b: 2, a: 1 } }), event({ runId: 'run_aaaaaaaa' })],
    [event({ runId: 'run_aaaaaaaa', outputs: { a: 1, b: 2 } }), event({ runId: 'run_bbbbbbbb' })],
  ];
  for (const other of others) expect(normalise([other])).not.toEqual(base);
});
