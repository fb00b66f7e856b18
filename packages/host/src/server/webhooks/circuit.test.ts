import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  afterFailure,
  afterSetback,
  afterSuccess,
  type Circuit,
  closedCircuit,
  FAILED_AFTER,
  gateOf,
  OPEN_MS,
} from './circuit.ts';

const day = 86_400_000;
const now = 20_000 * day;
const failed = (times: number, circuit: Circuit = closedCircuit, at = now): Circuit =>
  Array.from({ length: times }).reduce<Circuit>((before) => afterFailure(before, at), circuit);

test('it opens with the fourth failure in a row, for an hour, and then lets one attempt pass', () => {
  expect(gateOf(failed(3), now)).toBe('closed');
  const open = failed(4);
  expect(gateOf(open, now)).toBe('open');
  expect(gateOf(open, now + OPEN_MS - 1)).toBe('open');
  expect(gateOf(open, now + OPEN_MS)).toBe('probe');
});

test('a success closes it and begins the row anew', () => {
  expect(gateOf(afterSuccess(failed(4)), now)).toBe('closed');
  expect(gateOf(failed(3, afterSuccess(failed(3))), now)).toBe('closed');
});

test('a failed probe opens it again; failures of attempts that were under way do not prolong it', () => {
  const open = failed(4);
  expect(failed(3, open, now + 1_000).openUntil).toBe(open.openUntil);
  const later = now + OPEN_MS;
  expect(afterFailure(open, later).openUntil).toBe(later + OPEN_MS);
});

test('a hundred setbacks within a week give the receiver up; older ones are forgotten', () => {
  let circuit = closedCircuit;
  for (let i = 0; i < FAILED_AFTER - 1; i += 1) circuit = afterSetback(circuit, now + i);
  expect(gateOf(circuit, now)).toBe('closed');
  expect(gateOf(afterSetback(circuit, now + 6 * day), now + 6 * day)).toBe('failed');
  expect(gateOf(afterSetback(circuit, now + 7 * day), now + 7 * day)).toBe('closed');
});

test('what it remembers stays small, however long a receiver fails', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3 * day), { maxLength: 300 }), (spans) => {
      let at = now;
      let circuit = closedCircuit;
      for (const span of spans) {
        at += span;
        circuit = afterFailure(circuit, at);
      }
      expect(circuit.setbacks.length).toBeLessThanOrEqual(7);
    }),
  );
});
