/** The calls of a run after an event, by what a rule of a fork can name. */
import type { FoldHistory } from '../folds/fold-history.ts';
import { positionOf } from '../folds/run-row.ts';

export interface LaterCall {
  /** As a rule names it: `tool:NAME`, `step:NAME`, `model:NAME`. */
  readonly calls: string;
  readonly count: number;
}

/** Most rules that the dialog offers, within the limit of the host. */
const MAX_CALLS = 40;
/** Most rows that are looked at. */
const MAX_ROWS = 200_000;

/** Every kind of call at or after a sequence, in the order of their first use. */
export function laterCalls({ rows }: FoldHistory, fromSeq: number): readonly LaterCall[] {
  const counts = new Map<string, number>();
  const from = positionOf(rows, fromSeq - 1) + 1;
  for (let at = from; at < rows.length && at - from < MAX_ROWS; at += 1) {
    const name = nameOf(rows[at]);
    if (name !== null && (counts.has(name) || counts.size < MAX_CALLS)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([calls, count]) => ({ calls, count }));
}

function nameOf(row: FoldHistory['rows'][number] | undefined): string | null {
  switch (row?.type) {
    case 'agent.toolCalled':
      return `tool:${row.payload.toolId ?? row.payload.toolName}`;
    case 'cairn.step.requested':
      return row.payload.childRunId === undefined && row.payload.routes === undefined
        ? `step:${row.payload.step}`
        : null;
    case 'cairn.model.requested':
      return row.payload.model === undefined ? null : `model:${row.payload.model}`;
    default:
      return null;
  }
}
