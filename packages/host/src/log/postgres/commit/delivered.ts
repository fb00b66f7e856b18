/** What a commit wrote: the rows with their cursors, for their appends and for followers. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Appended, Commit } from '../../ports/event-log.ts';
import type { AdmittedJob } from './admission.ts';
import type { AppendJob } from './job.ts';

/** Commits of one transaction to one context. */
export interface Delivered {
  readonly contextId: ContextId;
  readonly before: number | null;
  readonly commits: readonly Commit[];
}

export interface Placed {
  readonly job: AppendJob;
  readonly appended: Appended;
  readonly commit: Commit;
}

/** Gives the rows that were written their cursors. */
export function place(
  admitted: readonly AdmittedJob[],
  isFailed: (runId: RunId) => boolean,
  cursors: readonly number[],
): readonly Placed[] {
  const placed: Placed[] = [];
  let next = 0;
  for (const { job, rows: stamped, fence } of admitted) {
    const { runId } = job.append;
    const [first] = stamped;
    if (isFailed(runId) || first === undefined) continue;
    const rows = stamped.map((row) => ({ ...row, cursor: cursors[next++] ?? 0 }));
    const appended = { seq: first.seq, cursor: rows.at(-1)?.cursor ?? 0, fence };
    placed.push({ job, appended, commit: { runId, contextId: first.contextId, rows } });
  }
  return placed;
}

/** As followers are told of them. */
export function byContext(placed: readonly Placed[], beforeOf: (runId: RunId) => number | null): readonly Delivered[] {
  const delivered: { contextId: ContextId; before: number | null; commits: Commit[] }[] = [];
  const known = new Map<ContextId, (typeof delivered)[number]>();
  for (const { commit } of placed) {
    const one = known.get(commit.contextId);
    if (one !== undefined && delivered.at(-1) === one) {
      one.commits.push(commit);
      continue;
    }
    // Followers hear of commits in order, so that a context may come several times.
    const before = one === undefined ? beforeOf(commit.runId) : (one.commits.at(-1)?.rows.at(-1)?.cursor ?? null);
    const next = { contextId: commit.contextId, before, commits: [commit] };
    known.set(commit.contextId, next);
    delivered.push(next);
  }
  return delivered;
}
