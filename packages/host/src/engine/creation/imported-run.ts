/** Imported runs: read-only, and shown from their rows alone, because this host may lack their steps. */
import {
  foldEventOf,
  foldRun,
  isoTime,
  newRunView,
  type RunId,
  type RunSnapshot,
  type RunView,
  runSnapshot,
  TerminalError,
} from '@cairn/protocol';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';

/** Bump when RunView changes shape. */
const VIEW_FORMAT = 'run-view/3';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288 };

/** Minimum rows for a checkpoint: folding a shorter run is faster than reading one. */
const WORTH_A_CHECKPOINT = 250;

export const runImported = (runId: RunId): TerminalError =>
  new TerminalError('run_imported', {
    message: `Run ${runId} was imported; it is the record of a run elsewhere and never goes on here.`,
    hint: 'Act on the host it came from, or start a new run of its workflow here.',
    details: { runId },
  });

/**
 * Returns a snapshot folded from the rows. The rows never change, so the view of a long run is folded once and saved.
 */
export async function importedSnapshot(
  store: Pick<Store, 'log' | 'checkpoints'>,
  record: RunRecord,
): Promise<RunSnapshot> {
  const { runId } = record;
  const kept = await store.checkpoints.get(runId);
  const usable = kept?.format === VIEW_FORMAT ? (JSON.parse(kept.body) as RunView) : null;
  const view = usable ?? (await foldedView(store, runId));
  if (usable === null && view.lastSeq >= WORTH_A_CHECKPOINT) {
    await store.checkpoints.put({ runId, seq: view.lastSeq, format: VIEW_FORMAT, body: JSON.stringify(view) });
  }
  return { ...runSnapshot(view), ...(record.importedAt !== null && { importedAt: isoTime(record.importedAt) }) };
}

async function foldedView(store: Pick<Store, 'log' | 'checkpoints'>, runId: RunId): Promise<RunView> {
  const view = newRunView(runId);
  for (;;) {
    const rows = await store.log.read({ runId, after: view.lastSeq, ...PAGE });
    for (const row of rows) foldRun(view, foldEventOf(row));
    if (rows.length === 0) return view;
  }
}
