/** The rows of the list with the children of open runs between them. Nothing here knows of React or the host. */
import type { RunSnapshot } from '@cairn/protocol';
import { type RunPages, rowAt } from './run-pages.ts';

/** The newest children of an open run. */
export interface Children {
  /** Null while they are read. */
  readonly runs: readonly RunSnapshot[] | null;
  /** Whether there are more than these. */
  readonly hasMore: boolean;
  readonly error: unknown;
}

/** By the id of their parent. */
export type OpenRuns = ReadonlyMap<string, Children>;

/** `depth` is 0 for a run of the list itself. */
export type ListRow =
  | { readonly is: 'run'; readonly run: RunSnapshot; readonly depth: number }
  | { readonly is: 'reading'; readonly key: string; readonly depth: number }
  | { readonly is: 'failed'; readonly parentRunId: string; readonly error: unknown; readonly depth: number }
  | { readonly is: 'more'; readonly parentRunId: string; readonly depth: number };

export interface FoldedRows {
  readonly count: number;
  at(row: number): ListRow;
  /** The row of the list that this row is, or is below of. */
  listRow(row: number): number;
}

interface Unfolded {
  readonly row: number;
  readonly below: readonly ListRow[];
}

/** Families nest no deeper than this. */
const MAX_DEPTH = 8;

export function foldedRows(list: RunPages, open: OpenRuns): FoldedRows {
  const unfolded = open.size === 0 ? [] : unfoldedOf(list, open);
  const below = unfolded.reduce((sum, one) => sum + one.below.length, 0);
  const found = (row: number): { readonly listRow: number; readonly child: ListRow | undefined } => {
    let before = 0;
    for (const one of unfolded) {
      const first = one.row + 1 + before;
      if (row < first) break;
      if (row < first + one.below.length) return { listRow: one.row, child: one.below[row - first] };
      before += one.below.length;
    }
    return { listRow: row - before, child: undefined };
  };
  return {
    count: list.count + below,
    listRow: (row) => found(row).listRow,
    at: (row) => {
      const { listRow, child } = found(row);
      if (child !== undefined) return child;
      const run = rowAt(list, listRow);
      return run === null ? { is: 'reading', key: `row ${listRow}`, depth: 0 } : { is: 'run', run, depth: 0 };
    },
  };
}

function unfoldedOf({ pages }: RunPages, open: OpenRuns): readonly Unfolded[] {
  const found: Unfolded[] = [];
  let begin = 0;
  for (const { count, runs } of pages) {
    for (const [index, { runId }] of (runs ?? []).entries())
      if (open.has(runId)) found.push({ row: begin + index, below: rowsBelow(runId, open, 1) });
    begin += count;
  }
  return found;
}

function rowsBelow(parentRunId: string, open: OpenRuns, depth: number): readonly ListRow[] {
  const children = open.get(parentRunId);
  if (children === undefined || depth > MAX_DEPTH) return [];
  const { runs, hasMore, error } = children;
  if (error !== null) return [{ is: 'failed', parentRunId, error, depth }];
  if (runs === null) return [{ is: 'reading', key: `below ${parentRunId}`, depth }];
  const rows = runs.flatMap((run): readonly ListRow[] => [
    { is: 'run', run, depth },
    ...rowsBelow(run.runId, open, depth + 1),
  ]);
  return hasMore ? [...rows, { is: 'more', parentRunId, depth }] : rows;
}

/** Open runs with what the host says of their children now. A new child comes first. */
export function withChangedChildren(open: OpenRuns, changed: readonly RunSnapshot[], most: number): OpenRuns {
  const next = new Map(open);
  for (const run of changed) {
    const children = run.parentRunId === undefined ? undefined : next.get(run.parentRunId);
    if (run.parentRunId === undefined || children?.runs == null) continue;
    const at = children.runs.findIndex(({ runId }) => runId === run.runId);
    // One that is older than those shown is behind the link to all of them.
    const isOld = children.hasMore && (run.startedAt ?? '') < (children.runs.at(-1)?.startedAt ?? '');
    if (at === -1 && isOld) continue;
    const runs = at === -1 ? [run, ...children.runs] : children.runs.with(at, run);
    next.set(run.parentRunId, {
      ...children,
      runs: runs.slice(0, most),
      hasMore: children.hasMore || runs.length > most,
    });
  }
  return next;
}
