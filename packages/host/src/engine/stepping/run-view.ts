/** Loads a run's public view for readers that do not step runs: a checkpoint, then the rows after it. */
import { foldEventOf, foldRun, newRunView, type RunId, type RunView } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { isQuarantined, outlineOf } from './quarantine.ts';
import { STATE_FORMAT } from './run-loader.ts';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288 };

/** The view after an event of the run; by default after its last durable row. The caller owns the returned object. */
export type LoadView = (runId: RunId, atSeq?: number) => Promise<RunView>;

export function createLoadView({ log, checkpoints }: Pick<Store, 'log' | 'checkpoints'>): LoadView {
  return async (runId, atSeq = Number.MAX_SAFE_INTEGER) => {
    const head = await log.head(runId);
    if (head !== null && isQuarantined(head)) return outlineOf(log, head);
    const checkpoint = await checkpoints.get(runId);
    const view =
      checkpoint?.format === STATE_FORMAT && checkpoint.seq <= atSeq
        ? (JSON.parse(checkpoint.body) as RunState).view
        : newRunView(runId);
    while (view.lastSeq < atSeq) {
      const limit = Math.min(PAGE.limit, atSeq - view.lastSeq);
      const rows = await log.read({ ...PAGE, runId, after: view.lastSeq, limit });
      for (const row of rows) foldRow(view, row);
      if (rows.length === 0) break;
    }
    return view;
  };
}

export const foldRow = (view: RunView, row: Row): void => foldRun(view, foldEventOf(row));
