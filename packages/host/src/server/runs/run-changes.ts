/** Which runs of a tenant changed since a position of the log, as the list shows them now. One small read for a page. */
import { type RunId, runChanges } from '@cairn/protocol';
import { z } from 'zod';
import { indexedTypes } from '../../log/fold-run-index.ts';
import type { ChangeLog } from '../../log/ports/changes.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { ListedRun, RunIndex } from '../../log/ports/run-index.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import { listedRun } from './listed-run.ts';

interface ChangesPorts {
  readonly log: Pick<EventLog, 'head'>;
  readonly changes: Pick<ChangeLog, 'read' | 'end'>;
  readonly runIndex: Pick<RunIndex, 'shown' | 'childCounts'>;
  readonly cursors: PageCursors;
}

/** Most that is read for one answer, and so the most runs in it beside those above them. */
const PAGE = { limit: 200, isForPlaces: true };

export const runChangesRoute = (ports: ChangesPorts): Route => ({
  method: 'GET',
  path: '/v1/host/cairn/run-changes',
  scope: 'runs:read',
  handle: (call) => changedRuns(call, ports),
  doc: {
    id: 'listRunChanges',
    summary: "List the tenant's runs that changed since an earlier answer, as the run list shows them now",
    query: z.object({
      after: z
        .string()
        .optional()
        .describe('The `position` of an earlier answer. Without it, the answer has no runs and the position of now.'),
    }),
    responses: { 200: { description: 'The changed runs. Ask again while there are any.', shape: runChanges } },
    errors: ['validation_error'],
  },
});

async function changedRuns(call: Call, { log, changes, runIndex, cursors }: ChangesPorts): Promise<string> {
  const { tenant } = call.caller;
  const after = cursors.placeOf(tenant, queryParam(call, 'after'));
  if (after === undefined) return JSON.stringify({ runs: [], position: cursors.shown(tenant, await changes.end()) });
  const filter = { tenant, types: indexedTypes };
  const { rows, position } = await changes.read({ after, ...PAGE, filter });
  const runs = await withParents(log, [...new Set(rows.map(({ runId }) => runId))]);
  const ids = [...runs.keys()];
  const [shown, childCounts] = await Promise.all([runIndex.shown(ids), runIndex.childCounts(ids)]);
  const listed = [...runs.values()].map((run) =>
    listedRun({ ...run, shownStatus: shown.get(run.runId) ?? run.status }, childCounts.get(run.runId)),
  );
  return JSON.stringify({ runs: listed, position: cursors.shown(tenant, position) });
}

/** A run that waits changes what the runs above it show. A run that was purged since is left out. */
async function withParents(
  log: ChangesPorts['log'],
  runIds: readonly RunId[],
): Promise<ReadonlyMap<RunId, Omit<ListedRun, 'shownStatus'>>> {
  const runs = new Map<RunId, Omit<ListedRun, 'shownStatus'>>();
  for (const changed of runIds) {
    let id: RunId | null = changed;
    while (id !== null && !runs.has(id)) {
      const head: Awaited<ReturnType<EventLog['head']>> = await log.head(id);
      if (head === null) break;
      runs.set(id, head.record);
      id = head.record.parentRunId;
    }
  }
  return runs;
}
