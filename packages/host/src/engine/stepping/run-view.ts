/** Loads a run's public view for readers that do not step runs: a checkpoint, then the rows after it. */
import { foldEventOf, foldRun, newRunView, type RunId, type RunView } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import { isQuarantined, outlineOf } from './quarantine.ts';
import { STATE_FORMAT } from './run-loader.ts';

/** Rows are parsed and folded in the turn that reads them. */
const PAGE = { limit: 1_000, maxBytes: 524_288 };

/** The view after an event of the run; by default after its last durable row. The caller owns the returned object. */
export type LoadView = (runId: RunId, atSeq?: number) => Promise<RunView>;

export function createLoadView(store: Pick<Store, 'log' | 'checkpoints'>): LoadView {
  const { log } = store;
  return async (runId, atSeq = Number.MAX_SAFE_INTEGER) => {
    const head = await log.head(runId);
    if (head !== null && isQuarantined(head)) return outlineOf(log, head);
    const view = (head && (await keptView(store, head.record, atSeq))) ?? newRunView(runId);
    while (view.lastSeq < atSeq) {
      const limit = Math.min(PAGE.limit, atSeq - view.lastSeq);
      const rows = await log.read({ ...PAGE, runId, after: view.lastSeq, limit });
      for (const row of rows) foldRow(view, row);
      if (rows.length === 0) break;
    }
    return view;
  };
}

/** The newest checkpoint at or before a row. The rows that a fork shares with its source have the source's checkpoints. */
async function keptView(
  { log, checkpoints }: Pick<Store, 'log' | 'checkpoints'>,
  run: RunRecord,
  atSeq: number,
): Promise<RunView | null> {
  let atMost = atSeq;
  for (let owner: RunRecord | null = run; owner !== null; ) {
    const checkpoint = await checkpoints.get(owner.runId, atMost);
    if (checkpoint?.format === STATE_FORMAT) {
      return { ...(JSON.parse(checkpoint.body) as RunState).view, runId: run.runId };
    }
    const fork: RunRecord['fork'] = owner.fork;
    atMost = Math.min(atMost, (fork?.fromSeq ?? 0) - 1);
    owner = fork === null ? null : ((await log.head(fork.sourceRunId))?.record ?? null);
  }
  return null;
}

export const foldRow = (view: RunView, row: Row): void => foldRun(view, foldEventOf(row));
