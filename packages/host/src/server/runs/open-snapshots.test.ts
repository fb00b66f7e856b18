import { expect, test } from 'vitest';
import type { SnapshotAt } from '../../engine/loading/snapshots.ts';
import { runA } from '../../log/ports/samples.kit.ts';
import { OpenSnapshots } from './open-snapshots.ts';

const at = (seq: number): SnapshotAt => ({ seq, snapshot: { runId: runA, workflowId: 'wf', status: 'running' } });

test('a snapshot is shared while somebody has it, for the same state of the run only', () => {
  const open = new OpenSnapshots();
  const first = at(4);
  const done = [open.use(runA, first), open.use(runA, first)];
  expect([open.find(runA, 4), open.find(runA, 5)]).toEqual([first, null]);
  done[0]?.();
  expect(open.find(runA, 4)).toBe(first);
  const newer = at(5);
  const last = open.use(runA, newer);
  expect([open.find(runA, 4), open.find(runA, 5)]).toEqual([null, newer]);
  done[1]?.();
  expect(open.find(runA, 5)).toBe(newer);
  last();
  expect(open.find(runA, 5)).toBeNull();
});
