import { RetryableError, type RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { newRunState } from '../core/new-run-state.ts';
import { CheckpointSaver } from './checkpoints.ts';

/** Looks after every five rows, with a state of this size. Returns the seq and size of each checkpoint. */
function saves(rows: number, isAtRest: boolean, bytesAt: (seq: number) => number) {
  const saved: { seq: number; bytes: number }[] = [];
  const state = newRunState('run_1' as RunId);
  const checkpoints = new CheckpointSaver(
    ({ nextSeq }) => {
      const bytes = bytesAt(nextSeq - 1);
      saved.push({ seq: nextSeq - 1, bytes });
      return { bytes, saved: Promise.resolve() };
    },
    () => undefined,
  );
  for (let seq = 4; seq < rows; seq += 5) {
    state.nextSeq = seq + 1;
    checkpoints.saveWhenDue(state, isAtRest);
  }
  return saved;
}

const rests = (rows: number, bytesAt: (seq: number) => number) => saves(rows, true, bytesAt);

const bytesPerRow = (isAtRest: boolean, stateBytes: number) =>
  saves(20_000, isAtRest, () => stateBytes).reduce((sum, { bytes }) => sum + bytes, 0) / 20_000;

test('the bytes written per row do not grow with the state', () => {
  expect(bytesPerRow(true, 1_000_000)).toBeLessThan(600);
  expect(bytesPerRow(true, 2_000_000)).toBeLessThan(600);
});

test('a run that is stepped writes a third of the bytes, because only a crash makes it load them', () => {
  expect(bytesPerRow(false, 400_000)).toBeLessThan(200);
  expect(saves(2_000, false, () => 5_000).map(({ seq }) => seq)).toEqual([249, 499, 749, 999, 1249, 1499, 1749, 1999]);
});

test('a state that grows with its rows is written at ever longer intervals', () => {
  const saved = rests(20_000, (seq) => seq * 200);
  const tails = saved.slice(1).map(({ seq }, i) => seq - (saved[i]?.seq ?? 0));
  expect(tails.length).toBeGreaterThan(5);
  for (const [i, tail] of tails.entries()) expect(tail * 500).toBeGreaterThanOrEqual(saved[i]?.bytes ?? 0);
});

test('a small state that rests is saved often enough that its tail stays short', () => {
  const saved = rests(2_000, () => 5_000);
  expect(saved.map(({ seq }) => seq).slice(0, 3)).toEqual([249, 374, 499]);
});

test('a state with large values is not saved, because that would block the event loop', () => {
  const state = newRunState('run_1' as RunId);
  state.nextSeq = 5_000;
  let saves = 0;
  const save = () => {
    saves += 1;
    return { bytes: 1, saved: Promise.resolve() };
  };
  const checkpoints = new CheckpointSaver(save, () => undefined);
  state.bytes = 1_000_001;
  checkpoints.saveWhenDue(state, true);
  expect(saves).toBe(0);
  state.bytes = 1_000_000;
  checkpoints.saveWhenDue(state, true);
  expect(saves).toBe(1);
});

test('the size of the state is the last checkpoint and everything recorded since', async () => {
  const failures: unknown[] = [];
  const lost = new RetryableError('store_failed', { message: 'full' });
  const checkpoints = new CheckpointSaver(
    () => ({ bytes: 700, saved: Promise.reject(lost) }),
    (error) => failures.push(error),
  );
  const row = { at: 0, type: 'node.started', audience: 'client' as const, payload: 'x'.repeat(50), task: null };
  checkpoints.loadedAt({ seq: 10, bytes: 400, tailBytes: 30 });
  checkpoints.appended([row, row]);
  expect(checkpoints.stateBytes).toBe(530);
  const state = newRunState('run_1' as RunId);
  state.nextSeq = 1_500;
  checkpoints.saveWhenDue(state, false);
  expect(checkpoints.stateBytes).toBe(700);
  await Promise.resolve();
  expect(failures).toEqual([lost]);
});
