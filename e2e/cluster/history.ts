/** The history checker: reads every run of a tenant from the store, and holds it against what the log promises. */
import { isTerminalType, type RunEventDoc, type RunId } from '@cairn/protocol';
import { verifyChain } from '../../packages/host/src/log/chain.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { RunRecord } from '../../packages/host/src/log/ports/run-index.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { Breach, Complain } from '../crash/breach.ts';

export interface CheckedHistory {
  readonly runs: number;
  readonly rows: number;
  /** Calls whose result is recorded. */
  readonly effects: number;
  readonly answers: number;
  readonly breaches: readonly Breach[];
}

const PAGE = 200;

/** Rows that record the result of a call, and those that ask for one. */
const results = new Set(['cairn.model.returned', 'agent.toolReturned', 'cairn.step.returned']);
const requests = new Set(['cairn.model.requested', 'agent.toolCalled', 'cairn.step.requested']);

export async function checkHistory(store: Pick<Store, 'log' | 'runIndex'>, tenant: string): Promise<CheckedHistory> {
  const breaches: Breach[] = [];
  const counts = { runs: 0, rows: 0, effects: 0, answers: 0 };
  const complain: Complain = (promise, facts) => void breaches.push({ promise, facts });
  for (let cursor: string | undefined; ; ) {
    const page = await store.runIndex.list({ tenant, limit: PAGE, cursor });
    for (const run of page.runs) {
      const rows = await rowsOf(store, run.runId);
      const checked = checkRun(run, rows, complain);
      counts.runs += 1;
      counts.rows += rows.length;
      counts.effects += checked.effects;
      counts.answers += checked.answers;
      const head = await store.log.head(run.runId);
      const last = rows.at(-1);
      if (head?.seq !== last?.seq || head?.hash !== last?.hash) {
        complain('the head of a run is its last row', { runId: run.runId, head: head?.seq, last: last?.seq });
      }
    }
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return { ...counts, breaches };
}

async function rowsOf({ log }: Pick<Store, 'log'>, runId: RunId): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await log.read({ runId, after: rows.at(-1)?.seq ?? -1, limit: PAGE });
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

/** Pure. */
function checkRun(run: RunRecord, rows: readonly Row[], complain: Complain): { effects: number; answers: number } {
  const { runId } = run;
  for (const [i, { seq }] of rows.entries()) if (seq !== i) complain('seq is dense', { runId, at: i, seq });
  for (const [i, { cursor }] of rows.entries()) {
    if (i > 0 && cursor <= (rows[i - 1]?.cursor ?? 0)) complain('cursors grow', { runId, at: i, cursor });
  }
  const broken = verifyChain(rows, run.originRunId);
  if (broken !== null) complain('the hash chain is valid', { runId, ...broken });
  const ends = rows.filter(({ type }) => isTerminalType(type));
  if (ends.length !== 1 || ends[0] !== rows.at(-1)) {
    complain('a run ends once, with its last row', { runId, ends: ends.map(({ seq }) => seq), rows: rows.length });
  }
  if (run.endedAt === null || run.status !== 'completed')
    complain('every run ends right', { runId, status: run.status });
  const effects = checkCalls(runId, rows, complain);
  return { effects, answers: checkAnswers(runId, rows, complain) };
}

function checkCalls(runId: RunId, rows: readonly Row[], complain: Complain): number {
  const recorded = new Set<string>();
  const asked = new Set<string>();
  /** Model calls that failed, and at which attempt. Only a later attempt may follow. */
  const failed = new Map<string, number>();
  for (const { type, seq, payload } of rows) {
    const { callId, status, error, attempt } = fields(JSON.parse(payload));
    // A call that was refused has no result.
    if (typeof callId !== 'string' || status === 'forbidden') continue;
    if (requests.has(type)) {
      const isOver = recorded.has(callId) || Number(attempt) <= (failed.get(callId) ?? 0);
      if (isOver) complain('a recorded effect is not asked for again', { runId, callId, seq });
      asked.add(callId);
    }
    if (!results.has(type)) continue;
    const isKnown = recorded.has(callId) || Number(attempt) <= (failed.get(callId) ?? 0);
    if (isKnown) complain('no effect is recorded twice', { runId, callId, seq });
    // A model call that failed has ended, and may be made again.
    if (type === 'cairn.model.returned' && error !== undefined) {
      failed.set(callId, Number(attempt));
      asked.delete(callId);
    } else recorded.add(callId);
  }
  for (const callId of asked) if (!recorded.has(callId)) complain('every call ends', { runId, callId });
  return recorded.size;
}

function checkAnswers(runId: RunId, rows: readonly Row[], complain: Complain): number {
  const open = new Set<string>();
  let answers = 0;
  for (const { type, seq, payload } of rows) {
    const { interruptId } = fields(JSON.parse(payload));
    if (type === 'interrupt.requested') open.add(String(interruptId));
    if (type !== 'interrupt.resolved') continue;
    answers += 1;
    if (!open.delete(String(interruptId))) complain('an answer counts once', { runId, interruptId, seq });
  }
  if (open.size > 0) complain('no question stays open', { runId, open: [...open] });
  return answers;
}

/** What a follower saw of a run, against its log: gapless and without repeats. */
export function checkStream(
  runId: string,
  seen: readonly Pick<RunEventDoc, 'sequence'>[],
  rows: number,
  complain: Complain,
): void {
  const broken = seen.findIndex(({ sequence }, i) => sequence !== i);
  if (broken >= 0 || seen.length !== rows) {
    complain('a stream has no gap and no repeat', { runId, at: broken, seen: seen.length, rows });
  }
}
