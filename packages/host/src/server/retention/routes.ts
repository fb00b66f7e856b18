/** The routes of retention: purge one tree of runs, and say what the rules would purge. */
import { isoTime, quoted, retentionPlan, runPurged as runPurgedShape, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Report, Timers } from '../../engine/ports.ts';
import type { PurgedRun } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import { runIdParam, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { TreePurger, TreeSize } from './purger.ts';
import type { RetentionRule } from './rules.ts';
import { expired } from './sweep.ts';

export interface RetentionRoutePorts {
  readonly store: Store;
  readonly purger: TreePurger;
  readonly rules: readonly RetentionRule[];
  readonly timers: Timers;
  readonly now: () => number;
  readonly report: Report;
}

/** A request waits this long for its purge, which goes on without it. */
const ANSWER_WITHIN_MS = 10_000;

/** Runs that a plan names. */
const MAX_PLANNED = 1_000;

const deleteQuery = z.object({
  dryRun: z.enum(['true', 'false']).optional().describe('Only says what would go.'),
  force: z
    .enum(['true', 'false'])
    .optional()
    .describe('Purges the tree although forks share its events. They cannot be read any more then.'),
});

export function retentionRoutes(ports: RetentionRoutePorts): readonly Route[] {
  return [
    {
      method: 'DELETE',
      path: '/v1/runs/{runId}',
      scope: 'runs:delete',
      handle: (call) => deleteRun(call, ports),
      doc: {
        id: 'deleteRun',
        summary: 'Purge a run that has ended, with all runs below it',
        query: deleteQuery,
        responses: {
          200: { description: 'What was purged, or would be.', shape: runPurgedShape },
          202: { description: 'The run reads as purged, and the rest goes in the background.', shape: runPurgedShape },
        },
        errors: ['not_found', 'conflict'],
      },
    },
    {
      method: 'GET',
      path: '/v1/host/cairn/retention',
      scope: 'runs:delete',
      handle: (call) => plan(call, ports),
      doc: {
        id: 'getRetention',
        summary: 'Read the rules of retention, and which runs would go now',
        responses: { 200: { description: "The tenant's rules and runs.", shape: retentionPlan } },
      },
    },
  ];
}

async function deleteRun(call: Call, ports: RetentionRoutePorts): Promise<string> {
  const { store, purger, timers, now, report } = ports;
  const [isDryRun, isForced] = [flag(call, 'dryRun'), flag(call, 'force')];
  const runId = runIdParam(call);
  const gone = await store.log.purged(runId);
  if (gone !== null && gone.tenant === call.caller.tenant) return purgedBefore(gone);
  const { record } = await visibleRun(call, store.log);
  if (isDryRun) return answer(runId, await purger.survey(record, isForced), { purged: false });
  const size = await purger.survey(record, isForced);
  const purged = purger.purge(record, isForced);
  void purged.then(
    () => purger.releaseSpace().catch((error: unknown) => report({ level: 'warn', event: 'retention.failed', error })),
    () => undefined,
  );
  const isDone = await within(ANSWER_WITHIN_MS, purged, timers);
  if (!isDone) {
    call.reply.code(202);
    return answer(runId, size, { purged: false });
  }
  return answer(runId, size, { purged: true, purgedAt: isoTime(now()) });
}

/** Whether it is done in time. It goes on either way. */
async function within(ms: number, work: Promise<unknown>, timers: Timers): Promise<boolean> {
  let cancel = (): void => {};
  const late = new Promise<boolean>((resolve) => {
    cancel = timers.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}

const purgedBefore = ({ runId, purgedAt }: PurgedRun): string =>
  answer(runId, { runs: 0, events: 0, bytes: 0, forks: [] }, { purged: true, purgedAt: isoTime(purgedAt) });

const answer = (
  runId: string,
  { runs, events, bytes, forks }: TreeSize,
  state: { readonly purged: boolean; readonly purgedAt?: string },
): string => JSON.stringify({ runId, ...state, runs, events, bytes, forks });

async function plan(call: Call, ports: RetentionRoutePorts): Promise<string> {
  const { tenant } = call.caller;
  const rules = ports.rules.filter((rule) => (rule.tenant ?? tenant) === tenant);
  const runs: object[] = [];
  let isTruncated = false;
  for await (const { runId, workflowId, endedAt } of expired(ports.rules, ports, tenant)) {
    isTruncated = runs.length === MAX_PLANNED;
    if (isTruncated) break;
    runs.push({ runId, workflowId, ...(endedAt === null ? {} : { completedAt: isoTime(endedAt) }) });
  }
  return JSON.stringify({ rules, runs, truncated: isTruncated });
}

function flag(call: Call, name: string): boolean {
  const text = queryParam(call, name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw new TerminalError('validation_error', {
    message: `${name} must be true or false, not ${quoted(text, 40)}.`,
    details: { parameter: name },
  });
}
