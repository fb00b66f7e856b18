/** The audit is worth what it finds: each promise is broken by hand, and the complaint must name it. */
import type { Json, JsonObject, RunId } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { chainHash, chainStart, rowHash } from '../../packages/host/src/log/chain.ts';
import { docText } from '../../packages/host/src/log/feed/frame.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { type AuditedRun, auditRun } from './audit.ts';
import type { Entry } from './journal.ts';
import { Witness, type WitnessedRun } from './witness.ts';

const runId = 'run_audited';
const callId = `${runId}:write#0`;

/** A row to be chained; what is left out is ordinary. */
interface Told {
  readonly type: string;
  readonly payload?: JsonObject;
  readonly cause?: number;
  readonly at?: number;
}

function rowsOf(told: readonly Told[]): Row[] {
  let previous = chainStart(runId as RunId);
  return told.map(({ type, payload = {}, cause, at = 1_000 }, seq) => {
    const row = {
      runId: runId as RunId,
      seq,
      contextId: 'ctx_audited' as Row['contextId'],
      cursor: seq + 1,
      at,
      type,
      nodeId: null,
      cause: cause ?? null,
      audience: 'client' as const,
      payload: JSON.stringify(payload),
      task: null,
      face: 0,
    };
    const own = rowHash(row);
    previous = chainHash(previous, own);
    return { ...row, rowHash: own, hash: previous };
  });
}

const requested = (attempt: number): Told => ({ type: 'cairn.step.requested', payload: { callId, attempt } });
const returned = (attempt: number): Told => ({
  type: 'cairn.step.returned',
  payload: { callId, attempt, outcome: {} },
});
const entered = (attempt: number): Entry => ({ runId, nodeId: 'write', callId, attempt, safety: 'write' });
const asked: Told = {
  type: 'interrupt.requested',
  payload: { interruptId: 'int_1', data: { customKind: 'cairn.step.interrupted', payload: { callId } } },
};
const resolved = (value: Json): Told => ({
  type: 'interrupt.resolved',
  payload: { interruptId: 'int_1', resumeValue: value },
});
const answered = { interruptId: 'int_1', nodeId: 'write', value: null, acknowledged: true, resent: 0 };
const started: Told = { type: 'run.started' };
const completed: Told = { type: 'run.completed' };

/** A sound run whose `write` was interrupted and, on a human's word, made again. */
const sound: readonly Told[] = [
  started,
  requested(1),
  asked,
  resolved({ action: 'retry' }),
  requested(2),
  returned(2),
  completed,
];

interface Change {
  readonly told?: readonly Told[];
  readonly rows?: (rows: Row[]) => Row[];
  readonly entries?: readonly Entry[];
  readonly seen?: Partial<WitnessedRun>;
}

function complaints({
  told = sound,
  rows = (all) => all,
  entries = [entered(1), entered(2)],
  seen = {},
}: Change): string[] {
  const witness = new Witness();
  const all = rowsOf(told);
  const witnessed = Object.assign(
    witness.open('key', 'crash-steps'),
    { runId, events: all.map(docText), answers: [answered] },
    seen,
  );
  const run: AuditedRun = { runId, rows: rows(all), witnessed, entries };
  auditRun(run, witness.complain);
  return [...new Set(witness.breaches.map(({ promise }) => promise))];
}

describe('the audit of a run', () => {
  test('finds nothing wrong with a sound one', () => {
    expect(complaints({})).toEqual([]);
  });

  test.each<readonly [string, string, Change]>([
    ['a hole in the sequence', 'sequence is dense', { rows: (rows) => rows.filter(({ seq }) => seq !== 2) }],
    [
      'a changed byte',
      'the hash chain is valid',
      { rows: (rows) => rows.map((row) => (row.seq === 1 ? { ...row, payload: `${row.payload} ` } : row)) },
    ],
    ['a lost tail', 'an acknowledged event is present byte for byte', { rows: (rows) => rows.slice(0, -1) }],
    ['no end', 'a run ends by itself, with one terminal event, the last', { told: sound.slice(0, -1) }],
    [
      'an event after the end',
      'a run ends by itself, with one terminal event, the last',
      { told: [...sound, requested(3)] },
    ],
    [
      'time that goes back',
      'time never decreases in a run',
      { told: sound.map((row, i) => ({ ...row, at: 1_000 - i })) },
    ],
    [
      'a cause that is later',
      'a cause is earlier',
      { told: sound.map((row, i) => (i === 1 ? { ...row, cause: 5 } : row)) },
    ],
    [
      'a cancel that did nothing',
      'an acknowledged cancel ends the run cancelled',
      { seen: { cancelled: 'cancelled' } },
    ],
    [
      'an answer that is gone',
      'an acknowledged answer is in the log',
      { seen: { answers: [answered, { ...answered, interruptId: 'int_9' }] } },
    ],
    [
      'an answer written twice',
      'an interrupt is resolved at most once',
      { told: [...sound.slice(0, 4), ...sound.slice(3)] },
    ],
    ['an answer nobody gave', 'an interrupt is resolved only by an answer', { seen: { answers: [] } }],
    ['a step nobody asked for', 'a step runs only after its request is durable', { entries: [1, 2, 3].map(entered) }],
    ['an attempt made twice', 'an attempt is made once', { entries: [1, 2, 2].map(entered) }],
    [
      'a result that ran again',
      'a recorded effect never runs again',
      { told: [started, requested(1), returned(1), requested(2), completed], seen: { answers: [] } },
    ],
    ['a result from nowhere', 'a recorded result comes from a step that ran', { entries: [entered(1)] }],
    [
      'a write repeated without a word',
      'a write runs once per verdict',
      { told: [started, requested(1), requested(2), returned(2), completed], seen: { answers: [] } },
    ],
  ])('finds %s', (_what, promise, change) => {
    expect(complaints(change)).toContain(promise);
  });
});
