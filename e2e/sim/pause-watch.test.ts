import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { Complaints } from './breach.ts';
import { PauseWatch } from './pause-watch.ts';

/** What the watch complains of first, given rows of these types in this order. */
function complaint(...types: readonly string[]): string | null {
  const complaints = new Complaints();
  const watch = new PauseWatch({ complain: complaints.complain, count: () => undefined });
  const payload = JSON.stringify({ drainPolicy: 'immediate' });
  for (const [seq, type] of types.entries()) watch.take({ runId: 'run_1' as RunId, seq, type, payload } as Row, false);
  return complaints.first?.invariant ?? null;
}

const asked = 'cairn.pause.requested';

test('a proper pause is fine, with answers in between, and again', () => {
  const once = ['node.started', asked, 'node.completed', 'run.paused', 'interrupt.resolved', 'run.resumed'];
  expect(complaint(...once, ...once)).toBeNull();
  expect(complaint(asked, 'run.paused', 'cairn.cancel.requested', 'node.cancelled', 'run.cancelled')).toBeNull();
});

test.for(['node.started', 'run.completed'])('complains when %s follows the request to pause', (type) => {
  expect(complaint(asked, type)).toBe('no node starts once a pause is asked for');
});

test.for(['node.started', 'node.completed', 'cairn.step.requested', 'cairn.timer.fired', 'run.completed'])(
  'complains of %s in a paused run',
  (type) => {
    expect(complaint(asked, 'run.paused', type)).toBe('nothing happens in a paused run');
  },
);

test('complains of a pause nobody asked for, and of a resume of a run that is not paused', () => {
  expect(complaint('run.paused')).toBe('a run pauses when it is asked to');
  expect(complaint(asked, 'run.resumed')).toBe('only a paused run is resumed');
});
