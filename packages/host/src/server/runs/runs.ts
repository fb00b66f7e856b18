/** Runs: create, read, list. */
import {
  type ContextId,
  type CreateRun,
  createRun,
  invariant,
  isCairnError,
  isTerminalStatus,
  type JsonObject,
  parseShape,
  quoted,
  RetryableError,
  type RunOptions,
  type RunStatus,
  runCreated,
  runList,
  runSnapshotSchema,
  runStatuses,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import { agentRun } from '../../agents/agent-run.ts';
import { checkRunModelOptions, type ModelAccess } from '../../agents/models/run-model-options.ts';
import type { Engine, RunStarted, StartRun } from '../../engine/engine.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex, RunRecord } from '../../log/ports/run-index.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import { utf8Size } from '../../utf8.ts';
import { checkedUrl } from '../egress/checked-url.ts';
import type { Egress } from '../egress/egress.ts';
import { etagMatches } from '../http/etag.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { integerParam, runIdParam, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import { committed } from '../idempotency/recorded-commands.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { hasOpenChildren, withFamily } from './run-family.ts';

export interface RunPorts {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly runIndex: RunIndex;
  /** The name of this host, for clients that meet a run of another request. */
  readonly hostId: string;
  readonly egress: Egress;
  readonly webhooks: Pick<Webhooks, 'expectCallbacks'>;
  readonly cursors: PageCursors;
  /** What a run may ask for of models. */
  readonly models: ModelAccess;
  /** Whether this host runs agents. */
  readonly runsAgents: boolean;
}

export function runRoutes(ports: RunPorts): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/runs',
      scope: 'runs:create',
      commitsOutcome: true,
      handle: (call) => create(call, ports),
      doc: {
        id: 'createRun',
        summary: 'Start a run of a workflow',
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
        errors: ['validation_error'],
      },
    },
    {
      method: 'GET',
      path: '/v1/runs/{runId}',
      scope: 'runs:read',
      handle: (call) => get(call, ports),
      doc: {
        id: 'getRun',
        summary: 'Read the state of a run',
        responses: {
          200: { description: 'The run as it is now.', shape: runSnapshotSchema },
          304: { description: 'Nothing happened since the snapshot that If-None-Match names.' },
        },
        errors: ['not_found'],
      },
    },
  ];
}

const listQuery = z.object({
  status: z.enum(runStatuses).optional(),
  workflowId: z.string().optional(),
  tag: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().optional(),
});

async function create(call: Call, ports: RunPorts): Promise<string> {
  const { engine } = ports;
  const body = parseShape(createRun, call.request.body, 'The run');
  refuseUnkept(body, ports);
  refuseTestWishes(call);
  checkRunModelOptions(body.configurable ?? {}, call.caller.tenant, ports.models);
  const { tenant, principal, toolScopes } = call.caller;
  const inputs = (body.inputs ?? {}) as JsonObject;
  const whatRuns = whatRunsOf(body, inputs);
  const request = {
    tenant,
    principal,
    toolScopes,
    ...whatRuns,
    inputs,
    options: runOptions(body),
    contextId: body.configurable?.['cairn.contextId'] as ContextId | undefined,
    trace: inboundTrace(call.request.headers),
    scopeId: body.scopeId,
    isAloneInScope: isDedupEnforced(call, body),
    callbackUrl: await callbackUrlOf(call, body, ports),
  };
  return committed<RunStarted>(call, {
    status: 201,
    body: (started) => createdBody(started, whatRuns.workflowId),
    command: (idempotency) => withHost(engine.start({ ...request, idempotency }), ports),
  });
}

async function callbackUrlOf(call: Call, { callbackUrl }: CreateRun, { egress, webhooks }: RunPorts) {
  if (callbackUrl === undefined) return undefined;
  await checkedUrl(egress, callbackUrl, 'callbackUrl');
  await webhooks.expectCallbacks(call.caller.tenant);
  return callbackUrl;
}

function isDedupEnforced(call: Call, { scopeId }: CreateRun): boolean {
  const asked = call.request.headers['x-dedup'];
  if (asked === undefined) return false;
  const refuse = (message: string, hint: string) =>
    new TerminalError('validation_error', { message, hint, details: { parameter: 'X-Dedup' } });
  if (asked !== 'enforce')
    throw refuse(`X-Dedup may be "enforce", not ${quoted(String(asked), 60)}.`, 'Or leave it out.');
  if (scopeId === undefined) throw refuse('X-Dedup needs a scopeId in the body.', 'Name what the run works on.');
  return true;
}

/** Only the HTTP surface knows by which name this host is known. */
async function withHost<Started>(starting: Promise<Started>, { hostId }: RunPorts): Promise<Started> {
  try {
    return await starting;
  } catch (error) {
    if (!isCairnError(error, 'run_already_active')) throw error;
    throw new RetryableError('run_already_active', {
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      details: { ...error.details, activeHost: hostId },
      cause: error,
    });
  }
}

/** Fields whose promise this host cannot keep are refused, never ignored. */
function refuseUnkept(body: CreateRun, { runsAgents }: RunPorts): void {
  if (body.mode !== undefined || body.evalSuiteRef !== undefined) {
    throw new TerminalError('capability_not_provided', {
      message: 'This host does not run evaluations.',
      details: { requiredCapability: 'eval' },
    });
  }
  for (const [field, requiredCapability] of Object.entries(gatedFields)) {
    if (!Object.hasOwn(body, field) || (field === 'agentId' && runsAgents)) continue;
    throw new TerminalError('capability_required', {
      message: `This host does not offer what ${field} asks for.`,
      hint: `Leave ${field} out.`,
      details: { requiredCapability, field },
    });
  }
}

const gatedFields = { agentId: 'agents.liveRuntime', residency: 'dataResidency' };

/** A workflow by its name, or the one that an agent alone stands for. */
function whatRunsOf(
  { workflowId, agentId }: CreateRun,
  inputs: JsonObject,
): Pick<StartRun, 'workflowId' | 'definition'> {
  if (agentId === undefined) {
    invariant(workflowId !== undefined, 'workflow-id-given');
    return { workflowId };
  }
  if (workflowId !== undefined) {
    throw new TerminalError('validation_error', {
      message: `The run names the workflow ${quoted(workflowId, 140)} and the agent ${quoted(agentId, 260)}; it can be of one only.`,
      hint: 'Leave agentId out: the nodes of a workflow name their agents themselves.',
      details: { field: 'agentId' },
    });
  }
  const definition = agentRun(agentId, inputs);
  return { workflowId: definition.id, definition };
}

/** What the protocol keeps for keys of tests, and this host has for nobody. */
function refuseTestWishes({ request }: Call): void {
  if (request.headers['x-force-engine-version'] !== undefined) {
    throw new TerminalError('force_engine_version_forbidden', {
      message: 'This key may not choose the version of the engine.',
      hint: 'Leave X-Force-Engine-Version out.',
    });
  }
}

/** What of a closed body the options of the run are; absent ones stay absent. */
function runOptions(body: CreateRun): RunOptions {
  const { configurable, tags, metadata } = body;
  checkMetadata(metadata);
  return {
    ...(configurable === undefined ? {} : { configurable }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Facts to keep with a run are read with every snapshot of it. */
const MAX_METADATA_BYTES = 8_192;

function checkMetadata(metadata: CreateRun['metadata']): void {
  if (metadata === undefined) return;
  const bytes = utf8Size(JSON.stringify(metadata));
  if (bytes <= MAX_METADATA_BYTES) return;
  throw new TerminalError('validation_error', {
    message: `metadata has ${bytes} bytes as JSON; at most ${MAX_METADATA_BYTES} are kept with a run.`,
    hint: 'Keep the facts elsewhere and a reference to them here.',
    details: { field: 'metadata', maxBytes: MAX_METADATA_BYTES },
  });
}

/** The wire has no terminal status here: a run that is over by the time of the answer was running when it was created. */
function createdBody({ runId, contextId, status }: RunStarted, workflowId: string): string {
  const path = `/v1/runs/${runId}`;
  return JSON.stringify({
    runId,
    status: isTerminalStatus(status) ? 'running' : status,
    workflowId,
    contextId,
    eventsUrl: `${path}/events`,
    statusUrl: path,
  });
}

/** Bump when a snapshot of the same events may read differently. */
const SNAPSHOT_VERSION = 3;

const etagOf = (seq: number): string => `"${SNAPSHOT_VERSION}-${seq}"`;

/** The tag follows from the last event, so whether a client is up to date is known without folding the run. */
async function get(call: Call, { engine, log }: RunPorts): Promise<string | undefined> {
  const runId = runIdParam(call);
  const known = call.request.headers['if-none-match'];
  if (known !== undefined) {
    const etag = etagOf((await visibleRun(call, log)).seq);
    if (etagMatches(known, etag)) {
      call.reply.code(304).header('etag', etag).header('cache-control', REVALIDATE).send();
      return undefined;
    }
  }
  const { tenant } = call.caller;
  const { seq, snapshot } = await engine.snapshotAt(tenant, runId);
  if (hasOpenChildren(snapshot)) {
    // Where they stand changes without an event of this run: a tag by its events would be wrong.
    call.reply.header('cache-control', 'private, no-store');
    return JSON.stringify(await withFamily(snapshot, tenant, engine));
  }
  call.reply.header('etag', etagOf(seq)).header('cache-control', REVALIDATE);
  return JSON.stringify(snapshot);
}

/** For this client alone, and only after asking whether it is still so. */
const REVALIDATE = 'private, no-cache';

async function list(call: Call, { runIndex, cursors }: RunPorts): Promise<string> {
  const { tenant } = call.caller;
  const page = await runIndex.list({
    tenant,
    status: statusParam(queryParam(call, 'status')),
    workflowId: queryParam(call, 'workflowId'),
    tag: queryParam(call, 'tag'),
    limit: integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: 200 }) ?? 50,
    cursor: cursors.placeOf(tenant, queryParam(call, 'cursor')),
  });
  return JSON.stringify({ runs: page.runs.map(listed), nextCursor: cursors.shown(tenant, page.nextCursor) });
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

/** A row of the run list, shaped like a snapshot; what only a fold of the events knows is left out. */
function listed(record: RunRecord): JsonObject {
  const { runId, workflowId, status, tenant, principal, currentNodeId, endedAt, errorCode, tags, parentRunId } = record;
  return {
    runId,
    contextId: record.contextId,
    workflowId,
    status,
    owner: { tenant, ...(principal === null ? {} : { principal }) },
    startedAt: new Date(record.createdAt).toISOString(),
    ...(endedAt === null ? {} : { completedAt: new Date(endedAt).toISOString() }),
    ...(currentNodeId === null ? {} : { currentNodeId }),
    ...(errorCode === null ? {} : { error: { code: errorCode, message: record.errorMessage ?? errorCode } }),
    ...(parentRunId === null ? {} : { parentRunId }),
    ...(record.importedAt === null ? {} : { importedAt: new Date(record.importedAt).toISOString() }),
    tags,
  };
}
