/**
 * What a context goes on from. The context of a fork holds the forked runs alone; everything else that was said and made
 * before its cut stays in the context of its source, which may itself be that of a fork.
 */
import { type ContextId, foldEventOf, isCairnError, type RunId } from '@cairn/protocol';
import type { EventLog } from './event-log.ts';
import type { Row } from './rows.ts';

/** Rows of a context up to a cursor. */
export interface HistoryPart {
  readonly contextId: ContextId;
  /** The last cursor that belongs to it; infinite for the context itself. */
  readonly through: number;
}

type HistoryLog = Pick<EventLog, 'read' | 'head'>;

/** Most contexts that one goes on from. The oldest of more is read as if it went on from none. */
const MAX_PARTS = 100;
/** A branch writes the rest of a cut decision before it says where it comes from. */
const MAX_FIRST_ROWS = 100;

/** The parts of a context, oldest first; the last one is the context itself. */
export async function contextHistory(log: HistoryLog, contextId: ContextId): Promise<readonly HistoryPart[]> {
  const parts: HistoryPart[] = [{ contextId, through: Number.POSITIVE_INFINITY }];
  for (let at = contextId; parts.length < MAX_PARTS; ) {
    const source = await sourceOf(log, at);
    if (source === null) break;
    // A fork may be cut before its own source was.
    parts.unshift({ ...source, through: Math.min(source.through, parts[0]?.through ?? source.through) });
    at = source.contextId;
  }
  return parts;
}

/** All forks of a tree say the same, so the run with the first row will do. Null if the source was purged. */
async function sourceOf(log: HistoryLog, contextId: ContextId): Promise<HistoryPart | null> {
  const first = await firstRow(log, contextId);
  if (first === null) return null;
  const fork = (await log.head(first.runId))?.record.fork ?? null;
  if (fork?.mode !== 'branch' || (await log.head(fork.sourceRunId)) === null) return null;
  return forkedFrom(log, first.runId, fork.fromSeq);
}

/** Null if there is none, or if it was shared with a run that was purged. */
async function firstRow(log: HistoryLog, contextId: ContextId): Promise<Row | null> {
  try {
    const [first] = await log.read({ contextId, afterCursor: 0, limit: 1, isLocal: true });
    return first ?? null;
  } catch (error) {
    if (isCairnError(error, 'run_purged')) return null;
    throw error;
  }
}

async function forkedFrom(log: HistoryLog, runId: RunId, fromSeq: number): Promise<HistoryPart | null> {
  for (let after = fromSeq - 1; after < fromSeq + MAX_FIRST_ROWS; ) {
    const rows = await log.read({ runId, after, limit: MAX_FIRST_ROWS });
    for (const row of rows) {
      after = row.seq;
      if (row.type !== 'cairn.run.forked') continue;
      const event = foldEventOf(row);
      const history = event.type === 'cairn.run.forked' ? event.payload.history : undefined;
      return history === undefined ? null : { contextId: history.contextId as ContextId, through: history.cursor };
    }
    if (rows.length === 0) return null;
  }
  return null;
}
