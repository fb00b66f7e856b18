/** Loads a run's public view for readers that do not step runs: a checkpoint, then the rows after it. */
import { foldEventOf, foldRun, newRunView, type RunId, type RunView } from '@cairn/protocol';
import type { RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { isQuarantined, outlineOf } from '../stepping/quarantine.ts';
import { LargeFolds } from './large-folds.ts';
import { nearestState, stateOf } from './nearest-state.ts';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288 };

/** The view after an event of the run; by default after its last durable row. The caller owns the returned object. */
export type LoadView = (runId: RunId, atSeq?: number) => Promise<RunView>;

export function createLoadView(store: Pick<Store, 'log' | 'checkpoints'>): LoadView {
  const { log } = store;
  const folds = new LargeFolds();
  const folded = async (head: RunHead, atSeq: number, mostPages: number): Promise<RunView | null> => {
    const { runId } = head.record;
    const checkpoint = await nearestState(store, head.record, atSeq);
    const view = checkpoint === null ? newRunView(runId) : stateOf(runId, checkpoint.body).view;
    for (let pages = 0; view.lastSeq < atSeq; pages += 1) {
      if (pages === mostPages && view.lastSeq < head.seq) return null;
      const limit = Math.min(PAGE.limit, atSeq - view.lastSeq);
      const rows = await log.read({ ...PAGE, runId, after: view.lastSeq, limit });
      for (const row of rows) foldRow(view, row);
      if (rows.length === 0) break;
    }
    return view;
  };
  return async (runId, atSeq = Number.MAX_SAFE_INTEGER) => {
    const head = await log.head(runId);
    if (head === null) return newRunView(runId);
    if (isQuarantined(head)) return outlineOf(log, head);
    return folds.take(head.record.tenant, (mostPages) => folded(head, atSeq, mostPages));
  };
}

export const foldRow = (view: RunView, row: Row): void => foldRun(view, foldEventOf(row));
