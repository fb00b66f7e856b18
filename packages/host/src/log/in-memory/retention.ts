/** In-memory retention: what a purge would take, read from all runs. */
import type { RunId } from '@cairn/protocol';
import type { Retention } from '../ports/retention.ts';
import { bytesOf } from '../ports/row-bytes.ts';
import type { RunRecord } from '../ports/run-index.ts';
import { type StoredRun, stretchesOf } from './stored-run.ts';
import type { Tables } from './tables.ts';

export const inMemoryRetention = (tables: Tables): Retention => ({
  nextGroup: async (after) => {
    const groups = records(tables).map(({ tenant, workflowId }) => ({ tenant, workflowId }));
    const later = groups.filter((group) => after === null || compare(group, after) > 0).sort(compare);
    return later[0] ?? null;
  },
  children: async (parentRunId, after, limit) => {
    const children = records(tables).filter((record) => record.parentRunId === parentRunId);
    const from = children.findIndex(({ runId }) => runId === after) + 1;
    return children.slice(from, from + limit);
  },
  forks: async (runId, limit) => forksOf(tables, runId).slice(0, limit),
  size: async (runId) => {
    const rows = tables.runs().get(runId)?.rows ?? [];
    return { events: rows.length, bytes: bytesOf(rows), nextAfter: null };
  },
});

/** Runs that share rows of a run, or go on and have it as their source; those that have not ended first. */
export function forksOf(tables: Tables, runId: RunId): readonly RunRecord[] {
  const follows = ({ endedAt, fork }: RunRecord): boolean => endedAt === null && fork?.sourceRunId === runId;
  const shares = (run: StoredRun): boolean =>
    follows(run.head.record) ||
    stretchesOf(run).some(({ owner: { head }, through }) => {
      const { record } = head;
      return record.runId === runId && through > (record.fork?.fromSeq ?? 0);
    });
  const others = [...tables.runs().values()].filter((run) => run.head.record.runId !== runId && shares(run));
  const isOver = ({ endedAt }: RunRecord): number => (endedAt === null ? 0 : 1);
  return others.map(({ head }) => head.record).sort((a, b) => isOver(a) - isOver(b));
}

export const records = (tables: Tables): readonly RunRecord[] =>
  [...tables.runs().values()].map(({ head }) => head.record);

type Group = Pick<RunRecord, 'tenant' | 'workflowId'>;

const compare = (a: Group, b: Group): number => order(a.tenant, b.tenant) || order(a.workflowId, b.workflowId);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
