/** Runs: create, read, list, cancel. */
import {
  type CreateRun,
  cancelRun as cancelBody,
  createRun,
  invariant,
  isTerminalStatus,
  type JsonObject,
  parseShape,
  quoted,
  type RunId,
  type RunOptions,
  type RunStatus,
  runCancelled,
  runCreated,
  runList,
  runSnapshotSchema,
  runStatuses,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import type { EventLog, RunRecord } from '../log/port.ts';
import { idempotencyKeyOf, type Once } from './idempotency.ts';
import { integerParam, runIdParam } from './params.ts';
import { type Call, queryParam, type Route, type RouteDoc } from './routes.ts';
import { inboundTrace } from './telemetry/trace-context.ts';

export interface RunSurface {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly once: Once;
}

export function runRoutes(surface: RunSurface): readonly Route[] {
  const cancel = (call: Call) => cancelRun(call, surface.engine);
  return [
    {
      method: 'POST',
      path: '/v1/runs',
      scope: 'runs:create',
      handle: (call) => create(call, surface),
      doc: {
        id: 'createRun',
        summary: 'Start a run of a workflow',
        body: createRun,
        responses: { 201: { description: 'The run was created.', shape: runCreated } },
        errors: [
          'not_found',
          'capability_required',
          'capability_not_provided',
          'idempotency_key_mismatch',
          'idempotency_in_flight',
        ],
      },
    },
    {
      method: 'GET',
      path: '/v1/runs',
      scope: 'runs:read',
      handle: (call) => list(call, surface.log),
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
      handle: (call) => get(call, surface.engine),
      doc: {
        id: 'getRun',
        summary: 'Read the state of a run',
        responses: { 200: { description: 'The run as it is now.', shape: runSnapshotSchema } },
        errors: ['not_found'],
      },
    },
    {
      method: 'POST',
      path: '/v1/runs/{runId}/cancel',
      scope: 'runs:cancel',
      handle: cancel,
      doc: cancelDoc('cancelRun'),
    },
    // Some of the protocol's prose spells it this way.
    {
      method: 'POST',
      path: '/v1/runs/{runId}:cancel',
      scope: 'runs:cancel',
      handle: cancel,
      doc: cancelDoc('cancelRunAlias'),
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

const cancelDoc = (id: string): RouteDoc => ({
  id,
  summary: 'Cancel a run',
  body: cancelBody.optional(),
  responses: { 200: { description: 'The run is cancelled, or was over before.', shape: runCancelled } },
  errors: ['not_found'],
});

const ENDPOINT = 'POST /v1/runs';

async function create(call: Call, { engine, once }: RunSurface): Promise<string> {
  const body = parseShape(createRun, call.request.body, 'The run');
  const workflowId = workflowOf(body);
  const { tenant, principal } = call.caller;
  const request = {
    tenant,
    principal,
    workflowId,
    inputs: (body.inputs ?? {}) as JsonObject,
    options: runOptions(body),
    trace: inboundTrace(call.request.headers),
  };
  const key = idempotencyKeyOf(call.request.headers['idempotency-key']);
  call.reply.code(201);
  if (key === undefined) {
    const { runId, status } = await engine.start(request);
    return createdBody(runId, workflowId, status);
  }
  const answer = await once({ tenant, endpoint: ENDPOINT, key, body: call.request.body }, async (requestDigest) => {
    const record = (runId: RunId) => ({ status: 201, body: createdBody(runId, workflowId, 'running') });
    const started = await engine.start({
      ...request,
      idempotency: { endpoint: ENDPOINT, key, requestDigest, answer: record },
    });
    return record(started.runId);
  });
  if (answer.replayed) call.reply.header('openwop-idempotent-replay', 'true');
  call.reply.code(answer.status);
  return answer.body;
}

/** Fields whose promise this host cannot keep are refused, never ignored. */
function workflowOf(body: CreateRun): string {
  if (body.mode !== undefined || body.evalSuiteRef !== undefined) {
    throw new TerminalError('capability_not_provided', {
      message: 'This host does not run evaluations.',
      details: { requiredCapability: 'eval' },
    });
  }
  for (const [field, requiredCapability] of Object.entries(gatedFields)) {
    if (Object.hasOwn(body, field)) {
      throw new TerminalError('capability_required', {
        message: `This host does not offer what ${field} asks for.`,
        hint: `Leave ${field} out.`,
        details: { requiredCapability, field },
      });
    }
  }
  invariant(body.workflowId !== undefined, 'workflow-id-given');
  return body.workflowId;
}

const gatedFields = { agentId: 'agents.liveRuntime', residency: 'dataResidency', callbackUrl: 'interrupt.callbacks' };

/** What of a closed body the options of the run are; absent ones stay absent. */
function runOptions(body: CreateRun): RunOptions {
  const { configurable, tags, metadata } = body;
  return {
    ...(configurable === undefined ? {} : { configurable }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The wire has no terminal status here: a run that is over by the time of the answer was running when it was created. */
function createdBody(runId: RunId, workflowId: string, status: RunStatus): string {
  const path = `/v1/runs/${runId}`;
  return JSON.stringify({
    runId,
    status: isTerminalStatus(status) ? 'running' : status,
    workflowId,
    eventsUrl: `${path}/events`,
    statusUrl: path,
  });
}

async function get(call: Call, engine: Engine): Promise<string> {
  return JSON.stringify(await engine.snapshot(call.caller.tenant, runIdParam(call)));
}

async function list(call: Call, log: EventLog): Promise<string> {
  const page = await log.list({
    tenant: call.caller.tenant,
    status: statusParam(queryParam(call, 'status')),
    workflowId: queryParam(call, 'workflowId'),
    tag: queryParam(call, 'tag'),
    limit: integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: 200 }) ?? 50,
    cursor: queryParam(call, 'cursor'),
  });
  return JSON.stringify({ runs: page.runs.map(listed), nextCursor: page.nextCursor });
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

async function cancelRun(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const { reason } = parseShape(cancelBody, call.request.body ?? {}, 'The cancel request');
  const { tenant, principal } = call.caller;
  const { status } = await engine.cancel({ tenant, runId, reason, principal });
  return JSON.stringify({ runId, status });
}
