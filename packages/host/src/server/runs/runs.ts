/** The routes of runs: create, read, list. */
import {
  createRun,
  quoted,
  type RunId,
  type RunStatus,
  runCreated,
  runList,
  runSnapshotSchema,
  runStatuses,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import { type SnapshotAt, UNCOUNTED_BYTES } from '../../engine/loading/snapshots.ts';
import type { ChangeLog } from '../../log/ports/changes.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex, RunRecord } from '../../log/ports/run-index.ts';
import { etagMatches } from '../http/etag.ts';
import { jsonPieces } from '../http/json-pieces.ts';
import { answerInPieces, type ResponsePorts } from '../http/large-response.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { atSeqParam, atSeqQuery, integerParam, requireEvent, runNamed, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import { type CreateRunPorts, createRunFrom } from './create-run.ts';
import { listedRun } from './listed-run.ts';
import type { OpenSnapshots } from './open-snapshots.ts';
import type { PastRuns } from './past-runs.ts';
import { runChangesRoute } from './run-changes.ts';
import { hasOpenChildren, withFamily, withLineage } from './run-family.ts';

export interface RunPorts extends CreateRunPorts {
  readonly log: EventLog;
  readonly changes: ChangeLog;
  readonly runIndex: RunIndex;
  readonly cursors: PageCursors;
  readonly responses: ResponsePorts;
  readonly past: PastRuns;
  readonly openSnapshots: OpenSnapshots;
}

export function runRoutes(ports: RunPorts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs',
      scope: 'runs:create',
      recordsItself: true,
      isEventBody: true,
      handle: (call) => createRunFrom(call, ports),
      doc: {
        id: 'createRun',
        summary: 'Start a run of a workflow',
        headers: z.object({
          'X-Dedup': z
            .literal('enforce')
            .optional()
            .describe('Refuses the run with `run_already_active` while another run with the same `scopeId` is active.'),
        }),
        body: createRun,
        responses: { 201: { description: 'The run was created.', shape: runCreated } },
        errors: [
          'not_found',
          'capability_required',
          'capability_not_provided',
          'mock_provider_forbidden',
          'unsupported_mock_provider',
          'credential_forbidden',
          'force_engine_version_forbidden',
          'run_already_active',
          'event_too_large',
          'run_state_too_large',
          'quota_exceeded',
          'idempotency_key_mismatch',
          'idempotency_in_flight',
        ],
      },
    },
    {
      method: 'GET',
      path: '/v1/runs',
      scope: 'runs:read',
      handle: (call) => list(call, ports),
      doc: {
        id: 'listRuns',
        summary: "List the tenant's runs, newest first",
        query: listQuery,
        responses: { 200: { description: 'One page of runs.', shape: runList } },
        errors: ['validation_error', 'not_found'],
      },
    },
    runChangesRoute(ports),
    {
      method: 'GET',
      path: '/v1/runs/{runId}',
      scope: 'runs:read',
      handle: (call) => get(call, ports),
      doc: {
        id: 'getRun',
        summary: 'Read the state of a run, now or after one of its events',
        query: z.object({ atSeq: atSeqQuery }),
        responses: {
          200: { description: 'The run as it is now, or as it was.', shape: runSnapshotSchema },
          304: { description: 'Nothing happened since the snapshot that If-None-Match names.' },
        },
        errors: ['validation_error', 'not_found', 'conflict'],
      },
    },
  ];
}

const listQuery = z.object({
  status: z.enum(runStatuses).optional(),
  workflowId: z.string().optional(),
  tag: z.string().optional(),
  parentRunId: z
    .string()
    .optional()
    .describe('Only the child runs of this run, or with `none` only runs that no run started. Without other filters.'),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().optional(),
});

/** Bump when a snapshot of the same events may read differently. */
const SNAPSHOT_VERSION = 3;

const etagOf = (seq: number): string => `"${SNAPSHOT_VERSION}-${seq}"`;

/** The state after an event never changes, so its ETag is known before it is folded. */
async function getPast(call: Call, atSeq: number, ports: RunPorts): Promise<string | undefined> {
  const { log, past, responses, openSnapshots: open } = ports;
  const head = await visibleRun(call, log);
  requireEvent(head, atSeq);
  const etag = `"${SNAPSHOT_VERSION}-at-${atSeq}"`;
  if (etagMatches(call.request.headers['if-none-match'], etag)) {
    call.reply.code(304).header('etag', etag).header('cache-control', REVALIDATE).send();
    return undefined;
  }
  const load = async () => ({ seq: atSeq, snapshot: await past.snapshot(head, atSeq), bytes: UNCOUNTED_BYTES });
  const state = { key: `${head.record.runId}@${atSeq}`, seq: atSeq, load };
  return open.inTurn(call.caller.tenant, (stalled) =>
    open.with(state, (at) => {
      call.reply.header('etag', etag).header('cache-control', REVALIDATE);
      return answerInPieces(call, jsonPieces(at.snapshot), { ...responses, kept: at, stalled });
    }),
  );
}

/** The ETag is derived from the last event, so a 304 needs no fold of the run. */
async function get(call: Call, ports: RunPorts): Promise<string | undefined> {
  const atSeq = atSeqParam(call);
  if (atSeq !== undefined) return getPast(call, atSeq, ports);
  const known = call.request.headers['if-none-match'];
  if (known !== undefined) {
    const etag = etagOf((await visibleRun(call, ports.log)).seq);
    if (etagMatches(known, etag)) {
      call.reply.code(304).header('etag', etag).header('cache-control', REVALIDATE).send();
      return undefined;
    }
  }
  return ports.openSnapshots.inTurn(call.caller.tenant, async (stalled) => {
    const { record, seq } = await visibleRun(call, ports.log);
    const { runId, tenant } = record;
    const state = { key: runId, seq, load: () => ports.engine.snapshotAt(tenant, runId) };
    return ports.openSnapshots.with(state, (at) => answerSnapshot(call, { at, record, stalled }, ports));
  });
}

interface ShownState {
  readonly at: SnapshotAt;
  readonly record: RunRecord;
  readonly stalled: () => void;
}

async function answerSnapshot(
  call: Call,
  { at, record, stalled }: ShownState,
  { runIndex, responses }: RunPorts,
): Promise<string | undefined> {
  const snapshot = withLineage(at.snapshot, record);
  const how = { ...responses, kept: at, stalled };
  if (hasOpenChildren(snapshot)) {
    // The children's status changes without an event of this run, so an ETag by its events would be wrong.
    call.reply.header('cache-control', 'private, no-store');
    return answerInPieces(call, jsonPieces(await withFamily(snapshot, runIndex)), how);
  }
  call.reply.header('etag', etagOf(at.seq)).header('cache-control', REVALIDATE);
  return answerInPieces(call, jsonPieces(snapshot), how);
}

/** Only this client may cache it, and it must revalidate before use. */
const REVALIDATE = 'private, no-cache';

async function list(call: Call, { log, runIndex, cursors }: RunPorts): Promise<string> {
  const { tenant } = call.caller;
  const filters = {
    status: statusParam(queryParam(call, 'status')),
    workflowId: queryParam(call, 'workflowId'),
    tag: queryParam(call, 'tag'),
  };
  const page = await runIndex.list({
    tenant,
    ...filters,
    parentRunId: await parentParam(call, filters, log),
    limit: integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: 200 }) ?? 50,
    cursor: cursors.placeOf(tenant, queryParam(call, 'cursor')),
  });
  const childCounts = await runIndex.childCounts(page.runs.map(({ runId }) => runId));
  const runs = page.runs.map((run) => listedRun(run, childCounts.get(run.runId)));
  return JSON.stringify({ runs, nextCursor: cursors.shown(tenant, page.nextCursor) });
}

/** Each set of filters has an index. A parent has one of its own, and none together with another filter. */
async function parentParam(
  call: Call,
  filters: Readonly<Record<string, string | undefined>>,
  log: EventLog,
): Promise<RunId | null | undefined> {
  const text = queryParam(call, 'parentRunId');
  if (text === undefined) return undefined;
  const other = Object.keys(filters).find((name) => filters[name] !== undefined);
  if (other !== undefined) {
    throw new TerminalError('validation_error', {
      message: `The filters parentRunId and ${other} cannot be combined.`,
      hint: `Leave out one of them. Runs found by ${other} name their parent.`,
      details: { parameter: 'parentRunId' },
    });
  }
  if (text === 'none') return null;
  return (await runNamed(text, call.caller, log)).record.runId;
}

function statusParam(text: string | undefined): RunStatus | undefined {
  if (text === undefined) return undefined;
  const status = runStatuses.find((known) => known === text);
  if (status !== undefined) return status;
  throw new TerminalError('validation_error', {
    message: `There is no run status ${quoted(text, 40)}.`,
    hint: `Use one of ${runStatuses.join(', ')}.`,
    details: { parameter: 'status' },
  });
}
