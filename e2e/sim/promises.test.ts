import type { ContextId, RunId } from '@cairn/protocol';
import { TerminalError } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { Auditor } from './auditor.ts';
import { Complaints } from './breach.ts';
import { Promises } from './promises.ts';

const runId = 'run_1' as RunId;

function promises() {
  const complaints = new Complaints();
  const world = { complain: complaints.complain, count: () => undefined, note: () => undefined };
  const auditor = new Auditor({ base: inMemoryStore(), onRow: () => undefined, ...world });
  return { promises: new Promises({ auditor, ...world }), broken: () => complaints.first?.invariant ?? null };
}

const resolved = (mark: string): Row => ({
  runId,
  seq: 3,
  contextId: 'ctx_1' as ContextId,
  cursor: 4,
  at: 1,
  type: 'interrupt.resolved',
  nodeId: 'n',
  cause: null,
  audience: 'client',
  payload: JSON.stringify({ interruptId: 'i', nodeId: 'n', resumeValue: { feedback: mark } }),
  task: null,
  face: 0,
  rowHash: '',
  hash: '',
});

const refusal = (code: 'interrupt_already_resolved' | 'store_failed') => new TerminalError(code, { message: 'no' });

test('is content with an accepted answer that is in the log once', () => {
  const { promises: told, broken } = promises();
  const mark = told.newMark(runId, 'i');
  told.onRow(resolved(mark));
  told.answered(mark);
  expect(broken()).toBeNull();
});

test('notices an accepted answer that is not in the log', () => {
  const { promises: told, broken } = promises();
  told.answered(told.newMark(runId, 'i'));
  expect(broken()).toBe('an answer that was accepted is in the log');
});

test('notices a refused answer that was recorded before or is recorded later', () => {
  const before = promises();
  const first = before.promises.newMark(runId, 'i');
  before.promises.onRow(resolved(first));
  before.promises.notAnswered(refusal('interrupt_already_resolved'), first);
  expect(before.broken()).toBe('an answer that was refused is not recorded');
  const after = promises();
  const second = after.promises.newMark(runId, 'i');
  after.promises.notAnswered(refusal('interrupt_already_resolved'), second);
  after.promises.onRow(resolved(second));
  expect(after.broken()).toBe('an answer that was refused is not recorded');
});

test('accepts either outcome when the error left it open, but never two', () => {
  const { promises: told, broken } = promises();
  const mark = told.newMark(runId, 'i');
  told.notAnswered(refusal('store_failed'), mark);
  told.onRow(resolved(mark));
  expect(broken()).toBeNull();
  told.onRow(resolved(mark));
  expect(broken()).toBe('an answer is recorded once');
});

test('notices a start that was acknowledged and left nothing', () => {
  const { promises: told, broken } = promises();
  told.started(runId, null);
  expect(broken()).toBe('a run that was acknowledged exists');
});

test('notices a cancel that was accepted and does not show', () => {
  const { promises: told, broken } = promises();
  told.cancelled(runId, 'running');
  expect(broken()).toBe('a cancel that was accepted shows');
});

test('notices a run that is said to have ended and has not', () => {
  const { promises: told, broken } = promises();
  told.cancelled(runId, 'cancelled');
  expect(broken()).toBe('a run that is said to have ended has');
});
