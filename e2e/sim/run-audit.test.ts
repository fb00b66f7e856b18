import type { Cause, ContextId, JsonObject, RunId } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { chainHash, chainStart, rowHash } from '../../packages/host/src/log/chain.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { taskFaces } from '../../packages/host/src/log/task-faces.ts';
import { Complaints } from './breach.ts';
import type { Interesting } from './coverage.ts';
import { RunAudit } from './run-audit.ts';

const runId = 'run_1' as RunId;

interface Sketch {
  readonly type: string;
  readonly payload?: JsonObject;
  readonly at?: number;
  readonly cause?: Cause;
}

/** Proper rows: dense, chained, in time order, unless the sketch says otherwise. */
function rowsOf(sketches: readonly Sketch[]): Row[] {
  let hash = chainStart(runId);
  const faceOf = taskFaces(runId);
  return sketches.map(({ type, payload = {}, at = 1000, cause = null }, seq) => {
    const nodeId = /^(cairn|node)\./.test(type) ? 'n' : null;
    const body = { seq, contextId: 'ctx_1' as ContextId, at, type, nodeId, cause, audience: 'client' as const };
    const own = rowHash({ ...body, payload: JSON.stringify(payload) });
    hash = chainHash(hash, own);
    const task = faceOf({ ...body, payload: JSON.stringify(payload) });
    return { runId, ...body, cursor: seq + 1, payload: JSON.stringify(payload), task, face: 0, rowHash: own, hash };
  });
}

function audit(rows: readonly Row[]) {
  const complaints = new Complaints();
  const counted: Interesting[] = [];
  const run = new RunAudit(
    { runId: runId },
    {
      complain: complaints.complain,
      count: (name) => counted.push(name),
      exists: () => false,
    },
  );
  for (const row of rows) run.take(row);
  run.settle();
  return { broken: complaints.first?.invariant ?? null, counted, run };
}

const started: Sketch = { type: 'run.started', payload: { workflowId: 'w', inputs: {} } };
const requested = (attempt: number, safety = 'read'): Sketch => ({
  type: 'cairn.step.requested',
  payload: { nodeId: 'n', callId: 'c', step: 's', attempt, safety, input: {} },
});
const returned = (attempt: number): Sketch => ({
  type: 'cairn.step.returned',
  payload: { nodeId: 'n', callId: 'c', attempt, outcome: 1 },
});
const timeIsUp: Sketch = {
  type: 'cairn.timer.fired',
  payload: { timerId: 't', purpose: 'node-timeout', nodeId: 'n' },
};
const asked: Sketch = {
  type: 'interrupt.requested',
  payload: {
    ...{ nodeId: 'n', interruptId: 'i', kind: 'custom', key: 'k' },
    data: { customKind: 'cairn.step.interrupted', payload: { callId: 'c' } },
  },
};
const verdict = (action: string): Sketch => ({
  type: 'interrupt.resolved',
  payload: { nodeId: 'n', interruptId: 'i', resumeValue: { action } },
});
const completed: Sketch = { type: 'run.completed' };

test('has nothing to say about a proper run', () => {
  const { broken, run } = audit(rowsOf([started, requested(1), returned(1), completed]));
  expect(broken).toBeNull();
  expect(run.ended).toBe('run.completed');
});

test('is content with a time limit that fails its node', () => {
  const failed: Sketch = { type: 'node.failed', payload: { nodeId: 'n', error: { code: 'x', message: 'y' } } };
  expect(audit(rowsOf([started, requested(1), timeIsUp, failed])).broken).toBeNull();
});

describe('notices', () => {
  const cases: readonly [string, readonly Row[]][] = [
    ['seq is dense', rowsOf([started, requested(1), returned(1)]).toSpliced(1, 1)],
    ['the terminal event is the last', rowsOf([started, completed, requested(1)])],
    ['a run begins with run.started', rowsOf([completed])],
    ['time never decreases in a run', rowsOf([started, { ...completed, at: 999 }])],
    ['cursors increase', rowsOf([started, completed]).map((row) => ({ ...row, cursor: 1 }))],
    ['a cause exists and is earlier', rowsOf([started, { ...completed, cause: 1 }])],
    ['the hash chain holds', rowsOf([started, completed]).map((row) => ({ ...row, audience: 'operator' }))],
    ['the task face follows from the rows', rowsOf([started, completed]).map((row) => ({ ...row, task: '{}' }))],
    ['the first attempt of a call is 1', rowsOf([started, requested(2)])],
    ['a call with a result is not asked for again', rowsOf([started, requested(1), returned(1), requested(2)])],
    ['attempts count up', rowsOf([started, requested(1), requested(1)])],
    [
      'a write whose end is unknown is asked for again only by a human',
      rowsOf([started, requested(1, 'write'), requested(2, 'write')]),
    ],
    ['a result answers a request', rowsOf([started, returned(1)])],
    ['an attempt has one result', rowsOf([started, requested(1), returned(1), returned(1)])],
    ['the latest attempt returns', rowsOf([started, requested(1), requested(2), returned(1)])],
    [
      'a time limit that fires is acted on in the same append',
      rowsOf([started, requested(1), timeIsUp, { type: 'node.resumed' }]),
    ],
    ['an interrupt is resolved once', rowsOf([started, asked, verdict('fail'), verdict('fail')])],
  ];
  test.each(cases)('that this is broken: %s', (invariant, rows) => {
    expect(audit(rows).broken).toBe(invariant);
  });
});

test('lets a write that failed be tried again: its end is known', () => {
  const failed: Sketch = {
    type: 'cairn.step.returned',
    payload: { nodeId: 'n', callId: 'c', attempt: 1, error: { code: 'x', message: 'y' } },
  };
  expect(audit(rowsOf([started, requested(1, 'write'), failed, requested(2, 'write')])).broken).toBeNull();
});

test('lets a write run again once a human said so', () => {
  const rows = rowsOf([started, requested(1, 'write'), asked, verdict('retry'), requested(2, 'write'), returned(2)]);
  const { broken, counted } = audit(rows);
  expect(broken).toBeNull();
  expect(counted).toContain('human let a write run again');
});

test('does not let a write run again when the human said otherwise', () => {
  const rows = rowsOf([started, requested(1, 'write'), asked, verdict('fail'), requested(2, 'write')]);
  expect(audit(rows).broken).toBe('a write whose end is unknown is asked for again only by a human');
});
