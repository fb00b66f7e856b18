/** Checks the invariants of a tree of runs whose root was cancelled, from the rows of its runs alone. */
import { isTerminalType, type JsonObject, type RunId } from '@cairn/protocol';
import { verifyChain } from '../../packages/host/src/log/chain.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import { parsedFields } from '../../packages/host/test/kit/json-fields.ts';
import type { Breach } from '../crash/breach.ts';

export interface Tree {
  readonly root: RunId;
  /** Each run of the context with all of its rows. */
  readonly runs: ReadonlyMap<RunId, readonly Row[]>;
  /** Maximum time from the cancellation to the end of the last run. */
  readonly withinMs: number;
}

export interface TreeFacts {
  readonly breaches: readonly Breach[];
  /** Time from the request to the end of the last run. */
  readonly tookMs: number;
}

/** One deadline applies to the whole tree, counted from the row that records the request. */
export function auditTree({ root, runs, withinMs }: Tree): TreeFacts {
  const breaches: Breach[] = [];
  const complain = (promise: string, facts: Breach['facts']) => breaches.push({ promise, facts: { root, ...facts } });
  const cancelledAt = (runs.get(root) ?? []).find(({ type }) => type === 'cairn.cancel.requested')?.at;
  if (cancelledAt === undefined) complain('a cancellation that was accepted is recorded', {});
  let lastEnd = cancelledAt ?? 0;
  for (const [runId, rows] of runs) {
    const broken = verifyChain(rows, runId);
    if (broken !== null) complain('the hash chain is valid', { runId, ...broken });
    const ends = rows.filter(({ type }) => isTerminalType(type));
    const [end] = ends;
    if (end === undefined) complain('every run of the tree ends', { runId, last: rows.at(-1)?.type });
    else {
      if (ends.length > 1 || rows.at(-1) !== end) complain('nothing follows the end of a run', { runId, seq: end.seq });
      lastEnd = Math.max(lastEnd, end.at);
      if (end.type === 'run.failed') complain('nothing fails because it is cancelled', { runId, payload: end.payload });
    }
    if (runId !== root) for (const problem of orphaned(runId, rows, runs)) complain(problem, { runId });
  }
  const tookMs = lastEnd - (cancelledAt ?? 0);
  if (tookMs > withinMs) complain('the whole tree ends in time', { tookMs, withinMs });
  return { breaches, tookMs };
}

const payloadOf = (row: Row | undefined): JsonObject => parsedFields(row?.payload ?? '{}');

/** A child must have a parent that requested it. A child cancelled with its parent must name that parent. */
function* orphaned(runId: RunId, rows: readonly Row[], runs: Tree['runs']): Generator<string> {
  const { parentRunId } = payloadOf(rows[0]);
  const parent = runs.get(parentRunId as RunId);
  const asked = parent?.some((row) => row.type === 'cairn.step.requested' && payloadOf(row).childRunId === runId);
  if (asked !== true) yield 'every run below the root was asked for by the one above it';
  const end = rows.at(-1);
  if (end?.type === 'run.cancelled' && payloadOf(end).parentRunId !== parentRunId) {
    yield 'a run that is cancelled with its parent names it';
  }
}
