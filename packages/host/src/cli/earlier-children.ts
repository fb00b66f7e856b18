/** Child runs that had ended before a tree was cut: a branch refers to them, and they stay with its source. */
import { isJsonObject, type Json } from '@cairn/protocol';
import { isTombstone } from '../log/ports/rows.ts';
import type { KeptRun, ReadOnlyLog } from '../log/sqlite/folder/read-only.ts';

/** Most runs that a bundle takes from the source. */
const MAX_EARLIER = 1_000;

export interface EarlierChildren {
  /** Each after the run above it, unless that is a source of the branch. */
  readonly runs: readonly KeptRun[];
  /** How many more the branch refers to. */
  readonly leftOut: number;
}

export function earlierChildren(log: ReadOnlyLog, tree: readonly KeptRun[]): EarlierChildren {
  const known = new Set<string>(tree.map(({ runId }) => runId));
  const runs: KeptRun[] = [];
  let leftOut = 0;
  for (const branch of tree) {
    if (branch.fork === null) continue;
    const { originRunId, fork } = branch;
    for (const id of namedBy(log, branch)) {
      const child = known.has(id) ? null : log.run(id);
      if (child === null || child.purgedAt !== null) continue;
      known.add(id);
      // A bundle says of a fork where it comes from, but not of the forks between.
      const isOfSource = child.parentRunId === fork.sourceRunId || child.parentRunId === originRunId;
      const below = isOfSource && runs.length < MAX_EARLIER ? log.tree(child) : null;
      if (below === null || runs.length + below.length > MAX_EARLIER) leftOut += 1;
      else runs.push(...below);
    }
  }
  return { runs, leftOut };
}

/** The children that the rows of a branch name, by the ids that they have in the branch. */
function namedBy(log: ReadOnlyLog, branch: KeptRun): ReadonlySet<string> {
  const named = new Set<string>();
  for (const row of log.rows(branch)) {
    if (isTombstone(row) || !/"child(?:RunId|ren)"/.test(row.payload)) continue;
    const payload: Json = JSON.parse(row.payload);
    if (!isJsonObject(payload)) continue;
    const { childRunId, children } = payload;
    if (typeof childRunId === 'string') named.add(childRunId);
    if (row.type !== 'cairn.run.forked' || !isJsonObject(children)) continue;
    for (const id of Object.keys(children)) named.delete(id);
    for (const id of Object.values(children)) named.add(String(id));
  }
  return named;
}
