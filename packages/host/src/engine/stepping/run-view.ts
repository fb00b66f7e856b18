/** Loads a run's public view for readers that do not step runs: the newest checkpoint, then the tail of the log. */
import { foldEventOf, foldRun, newRunView, type RunId, type RunView } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { isQuarantined, outlineOf } from './quarantine.ts';
import { STATE_FORMAT } from './run-loader.ts';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288 };

export type LoadView = (runId: RunId) => Promise<RunView>;

/** Returns the view after the last durable row. The caller owns the returned object. */
export function createLoadView({ log, checkpoints }: Pick<Store, 'log' | 'checkpoints'>): LoadView {
  return async (runId) => {
    const head = await log.head(runId);
    if (head !== null && isQuarantined(head)) return outlineOf(log, head);
    const checkpoint = await checkpoints.get(runId);
    const view =
      checkpoint?.format === STATE_FORMAT ? (JSON.parse(checkpoint.body) as RunState).view : newRunView(runId);
    for (;;) {
      const rows = await log.read({ runId, after: view.lastSeq, ...PAGE });
      for (const row of rows) foldRow(view, row);
      if (rows.length === 0) return view;
    }
  };
}

export const foldRow = (view: RunView, row: Row): void => foldRun(view, foldEventOf(row));
