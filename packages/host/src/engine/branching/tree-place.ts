/** Finds where a fork cuts a tree: the runs share all rows that were written before the event that the request names. */
import { type ContextId, type RunId, TerminalError } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';

export interface TreePlace {
  /** The run that is forked, and the first seq that it does not share. */
  readonly focus: { readonly runId: RunId; readonly fromSeq: number };
  /** The topmost run that is cut: the focus itself, or its root. */
  readonly top: { readonly head: RunHead; readonly fromSeq: number };
  /** Rows of the other runs are shared up to here. */
  readonly cursor: number;
  /** The context that the cursor is in: that of the run whose tree it was before the cut. */
  readonly contextId: ContextId;
}

type LogPorts = Pick<Store, 'log' | 'changes'>;

interface Cut {
  readonly source: RunHead;
  readonly fromSeq: number;
  /** Whether the runs above the source are cut, too. */
  readonly isWholeTree: boolean;
}

export async function treePlace(store: LogPorts, { source, fromSeq, isWholeTree }: Cut): Promise<TreePlace> {
  const { log } = store;
  const { runId } = source.record;
  const focus = { runId, fromSeq };
  const place = await cutPlace(store, source, fromSeq);
  const top = isWholeTree ? await rootOf(log, source) : source;
  if (top === source) return { focus, top: { head: source, fromSeq }, ...place };
  const shared = await log.rowsUntil(top.record.runId, place.cursor);
  if (shared > top.seq && top.record.endedAt !== null) throw endedAbove(runId, top.record.runId, fromSeq);
  return { focus, top: { head: top, fromSeq: shared }, ...place };
}

/** The end of the log for a cut after the last row of a run. */
async function cutPlace(
  store: LogPorts,
  source: RunHead,
  fromSeq: number,
): Promise<Pick<TreePlace, 'cursor' | 'contextId'>> {
  const { log, changes } = store;
  const recorded = await recordedBy(log, source, fromSeq);
  if (recorded !== null) return cutPlace(store, recorded, fromSeq);
  const row = await rowAt(log, source.record.runId, fromSeq);
  const cursor = row === undefined ? await changes.lastCursor() : row.cursor - 1;
  return { cursor, contextId: source.record.contextId };
}

/**
 * The run whose tree a fork is in before the cut: its source, if the fork begins there or later, or if it is a replay that
 * has written the same rows again.
 */
async function recordedBy(
  log: EventLog,
  { record: { runId, fork } }: RunHead,
  fromSeq: number,
): Promise<RunHead | null> {
  if (fork === null) return null;
  const above = await log.head(fork.sourceRunId);
  if (above === null || fromSeq <= fork.fromSeq || fork.mode !== 'replay')
    return fromSeq <= fork.fromSeq ? above : null;
  const [own, recorded] = [await rowAt(log, runId, fromSeq - 1), await rowAt(log, fork.sourceRunId, fromSeq - 1)];
  return own !== undefined && own.hash === recorded?.hash ? above : null;
}

async function rowAt(log: EventLog, runId: RunId, seq: number): Promise<Row | undefined> {
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  return row?.seq === seq ? row : undefined;
}

async function rootOf(log: EventLog, run: RunHead): Promise<RunHead> {
  let root = run;
  for (let above = run.record.parentRunId; above !== null; ) {
    const parent = await log.head(above);
    if (parent === null) return root;
    root = parent;
    above = parent.record.parentRunId;
  }
  return root;
}

export const endedAbove = (runId: RunId, rootRunId: RunId, fromSeq: number): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} cannot be forked at ${fromSeq} with its tree: run ${rootRunId} had ended or no longer waited for it.`,
    hint: 'Fork the run alone: leave out cairn.tree.',
    details: { sourceRunId: runId, fromSeq, rootRunId },
  });
