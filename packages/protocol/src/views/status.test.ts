import { expect, test } from 'vitest';
import { interruptKinds } from '../interrupts/interrupts.ts';
import { isTerminalStatus, runStatuses } from '../runs/run-status.ts';
import { canFollow, noWaits, statusOf, statusTransitions, waitingStatus } from './status.ts';

test('a terminal status never changes, and every other can reach one', () => {
  for (const status of runStatuses) {
    const next = statusTransitions[status];
    if (isTerminalStatus(status)) expect(next).toEqual([]);
    else expect(next.some((to) => isTerminalStatus(to))).toBe(true);
  }
});

test('a run that is being cancelled only ends', () => {
  expect(runStatuses.filter((to) => canFollow('cancelling', to))).toEqual([
    'completed',
    'failed',
    'cancelling',
    'cancelled',
  ]);
});

test('a run never goes back to pending', () => {
  expect(runStatuses.filter((from) => canFollow(from, 'pending'))).toEqual(['pending']);
});

test('each kind of question shows as the wire says', () => {
  expect(Object.fromEntries(interruptKinds.map((kind) => [kind, waitingStatus(kind)]))).toEqual({
    approval: 'waiting-approval',
    clarification: 'waiting-input',
    'external-event': 'waiting-external',
    custom: 'waiting-input',
    'conversation.start': 'waiting-input',
    'conversation.exchange': 'waiting-approval',
    'conversation.close': 'waiting-input',
    'low-confidence': 'waiting-approval',
  });
  expect(waitingStatus(undefined)).toBe('waiting-input');
});

test('a decision of a person is shown before an input, and that before an event from outside', () => {
  const waits = noWaits();
  expect(statusOf(waits)).toBe('running');
  waits['waiting-external'] = 1;
  expect(statusOf(waits)).toBe('waiting-external');
  waits['waiting-input'] = 1;
  expect(statusOf(waits)).toBe('waiting-input');
  waits['waiting-approval'] = 1;
  expect(statusOf(waits)).toBe('waiting-approval');
});
