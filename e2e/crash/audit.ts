/**
 * Audits the log after the crashes: it holds everything that was acknowledged, and it matches the external effects.
 * Pure.
 */
import { isTerminalType, type JsonObject, type RunId } from '@cairn/protocol';
import { verifyChain } from '../../packages/host/src/log/chain.ts';
import { docText } from '../../packages/host/src/log/feed/frame.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { fields, fieldsOrNone, parsedFields } from '../../packages/host/test/kit/json-fields.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import type { Complain } from './breach.ts';
import type { Entry } from './journal.ts';
import type { WitnessedRun } from './witness.ts';

export interface AuditedRun {
  readonly runId: string;
  /** All rows, in order. */
  readonly rows: readonly Row[];
  readonly witnessed: WitnessedRun;
  /** Step entries of this run, in the order they happened. */
  readonly entries: readonly Entry[];
}

export function auditRun(run: AuditedRun, complain: Complain): void {
  const { runId } = run;
  const about: Complain = (promise, facts) => complain(promise, { runId, ...facts });
  auditHistory(run, about);
  auditAcknowledged(run, about);
  auditAnswers(run, about);
  auditEffects(run, about);
}

/** Checks the log alone: dense, chained, ordered by time and cause, closed by one terminal event. */
function auditHistory({ runId, rows }: AuditedRun, complain: Complain): void {
  const broken = verifyChain(rows, runId as RunId);
  if (broken !== null)
    complain(broken.reason === 'seq' ? 'sequence is dense' : 'the hash chain is valid', { ...broken });
  const terminal = rows.filter((row) => isTerminalType(row.type));
  if (terminal.length !== 1 || terminal[0] !== rows.at(-1)) {
    complain('a run ends by itself, with one terminal event, the last', {
      terminal: terminal.map((row) => row.seq),
      rows: rows.length,
    });
  }
  rows.forEach((row, index) => {
    if (index > 0 && row.at < present(rows[index - 1]).at) complain('time never decreases in a run', { seq: row.seq });
    if (typeof row.cause === 'number' && row.cause >= row.seq)
      complain('a cause is earlier', { seq: row.seq, cause: row.cause });
  });
}

/** Checks that everything a client received is still in the log, byte for byte. */
function auditAcknowledged({ rows, witnessed }: AuditedRun, complain: Complain): void {
  witnessed.events.forEach((text, seq) => {
    const row = rows[seq];
    const stored = row === undefined ? null : docText(row);
    if (stored !== text) complain('an acknowledged event is present byte for byte', { seq, text, stored });
  });
  const last = rows.at(-1)?.type;
  if (
    witnessed.cancelled !== null &&
    ['cancelled', 'cancelling'].includes(witnessed.cancelled) &&
    last !== 'run.cancelled'
  ) {
    complain('an acknowledged cancel ends the run cancelled', { last });
  }
}

function auditAnswers({ rows, witnessed }: AuditedRun, complain: Complain): void {
  const resolved = new Map<string, number>();
  for (const payload of payloadsOf(rows, 'interrupt.resolved')) {
    const id = String(payload.interruptId);
    resolved.set(id, (resolved.get(id) ?? 0) + 1);
    const sent = witnessed.answers.find((answer) => answer.interruptId === id);
    if (sent === undefined) complain('an interrupt is resolved only by an answer', { interruptId: id });
  }
  for (const [interruptId, times] of resolved) {
    if (times > 1) complain('an interrupt is resolved at most once', { interruptId, times });
  }
  for (const { interruptId, acknowledged } of witnessed.answers) {
    if (acknowledged && !resolved.has(interruptId)) complain('an acknowledged answer is in the log', { interruptId });
  }
}

/**
 * Checks the journal against the log: requested first, entered once per attempt, never entered again after its result
 * is recorded.
 */
function auditEffects({ rows, entries }: AuditedRun, complain: Complain): void {
  const asked = new Set(payloadsOf(rows, 'cairn.step.requested').map(attemptOf));
  const returns = payloadsOf(rows, 'cairn.step.returned');
  const seen = new Set<string>();
  for (const entry of entries) {
    const attempt = attemptOf(entry);
    if (!asked.has(attempt)) complain('a step runs only after its request is durable', { ...entry });
    if (seen.has(attempt)) complain('an attempt is made once', { ...entry });
    seen.add(attempt);
    const result = returns.find((payload) => payload.callId === entry.callId && payload.outcome !== undefined);
    if (result !== undefined && entry.attempt > Number(result.attempt)) {
      complain('a recorded effect never runs again', { ...entry, recorded: result.attempt });
    }
  }
  for (const result of returns) {
    if (!seen.has(attemptOf(result))) complain('a recorded result comes from a step that ran', { ...result });
  }
  for (const calls of Map.groupBy(
    entries.filter(({ safety }) => safety === 'write'),
    ({ callId }) => callId,
  ).values()) {
    const { callId } = present(calls[0]);
    const allowed = 1 + retryVerdicts(rows, callId);
    if (calls.length > allowed) complain('a write runs once per verdict', { callId, entered: calls.length, allowed });
  }
}

/** Counts how often a person chose to retry an interrupted call. */
function retryVerdicts(rows: readonly Row[], callId: string): number {
  const questions = payloadsOf(rows, 'interrupt.requested')
    .filter(({ data }) => fields(fields(data).payload ?? {}).callId === callId)
    .map(({ interruptId }) => interruptId);
  return payloadsOf(rows, 'interrupt.resolved').filter(
    ({ interruptId, resumeValue }) => questions.includes(interruptId) && fieldsOrNone(resumeValue).action === 'retry',
  ).length;
}

const attemptOf = ({ callId, attempt }: { readonly callId?: unknown; readonly attempt?: unknown }): string =>
  `${String(callId)}/${String(attempt)}`;

const payloadsOf = (rows: readonly Row[], type: string): JsonObject[] =>
  rows.filter((row) => row.type === type).map((row) => parsedFields(row.payload));
