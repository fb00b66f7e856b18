/** Control of running runs: cancel one or many, pause, resume. */
import {
  bulkCancelRuns,
  cancelRun as cancelBody,
  isCairnError,
  isoTime,
  MAX_BULK_CANCEL,
  parseRunId,
  parseShape,
  pauseRun as pauseBody,
  type RunStatus,
  type RunsCancelled,
  resumeRun as resumeBody,
  runCancelled,
  runPaused,
  runResumed,
  runsCancelled,
  statusOfCode,
  TerminalError,
  toEnvelope,
} from '@cairn/protocol';
import type { Engine, RunCancelled, RunPaused, RunResumed } from '../../engine/engine.ts';
import { runNotFound } from '../../engine/loading/run-loader.ts';
import { runIdParam } from '../http/params.ts';
import type { Call, Route, RouteDoc } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';

export function runControlRoutes(engine: Engine): readonly Route[] {
  const scope = 'runs:cancel';
  const method = 'POST';
  const cancel = (call: Call) => cancelRun(call, engine);
  return [
    { method, path: '/v1/runs/{runId}/cancel', scope, handle: cancel, doc: cancelDoc('cancelRun') },
    // Parts of the protocol text use this spelling.
    { method, path: '/v1/runs/{runId}:cancel', scope, handle: cancel, doc: cancelDoc('cancelRunAlias') },
    { method, path: '/v1/runs:bulk-cancel', scope, handle: (call) => cancelMany(call, engine), doc: bulkDoc },
    { method, path: '/v1/runs/{runId}:pause', scope, handle: (call) => pauseRun(call, engine), doc: pauseDoc },
    { method, path: '/v1/runs/{runId}:resume', scope, handle: (call) => resumeRun(call, engine), doc: resumeDoc },
  ];
}

const cancelDoc = (id: string): RouteDoc => ({
  id,
  summary: 'Cancel a run',
  body: cancelBody.optional(),
  responses: { 200: { description: 'The run is cancelled, or was over before.', shape: runCancelled } },
  errors: ['not_found', 'run_imported'],
});

const bulkDoc: RouteDoc = {
  id: 'cancelRuns',
  summary: 'Cancel many runs',
  body: bulkCancelRuns,
  responses: { 200: { description: 'What became of each, in the order asked.', shape: runsCancelled } },
};

const pauseDoc: RouteDoc = {
  id: 'pauseRun',
  summary: 'Pause a run',
  body: pauseBody.optional(),
  responses: { 202: { description: 'The run is paused, or will be once its nodes have finished.', shape: runPaused } },
  errors: ['not_found', 'conflict', 'run_terminal', 'run_imported'],
};

const resumeDoc: RouteDoc = {
  id: 'resumeRun',
  summary: 'Resume a paused run',
  body: resumeBody.optional(),
  responses: { 202: { description: 'The run goes on.', shape: runResumed } },
  errors: ['not_found', 'conflict', 'run_terminal', 'run_imported'],
};

async function cancelRun(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const { reason } = parseShape(cancelBody, call.request.body ?? {}, 'The cancel request');
  const { tenant, principal } = call.caller;
  return recordedCommand<RunCancelled>(call, {
    status: 200,
    body: ({ status }) => JSON.stringify({ runId, status }),
    command: (idempotency) => engine.cancel({ tenant, runId, reason, principal, idempotency }),
  });
}

type Row = RunsCancelled['results'][number];

/** Runs that are cancelled at the same time. Each is loaded, with its definition. */
const AT_ONCE = 10;

async function cancelMany(call: Call, engine: Engine): Promise<string> {
  const { runIds, reason } = bulkRequest(call.request.body);
  const results: Row[] = [];
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    const some = runIds.slice(from, from + AT_ONCE);
    results.push(...(await Promise.all(some.map((runId) => cancelOne(call, engine, runId, reason)))));
  }
  return JSON.stringify({ results });
}

function bulkRequest(body: unknown) {
  try {
    return parseShape(bulkCancelRuns, body, 'The bulk cancel');
  } catch (error) {
    if (!isCairnError(error, 'validation_error')) throw error;
    const { message, hint, details } = error;
    throw new TerminalError('validation_error', {
      message,
      ...(hint === undefined ? {} : { hint }),
      details: { ...details, maxRunIds: MAX_BULK_CANCEL },
    });
  }
}

/** An error of one run goes into its result row. A fault of the host fails the whole request, which can be retried. */
async function cancelOne(call: Call, engine: Engine, id: string, reason: string | undefined): Promise<Row> {
  try {
    const runId = parseRunId(id);
    if (runId === null) throw runNotFound(id);
    const { tenant, principal } = call.caller;
    const { status } = await engine.cancel({ tenant, runId, reason, principal });
    if (status === 'completed' || status === 'failed') throw ended(id, status);
    return { runId: id, ok: true, status };
  } catch (error) {
    if (!isCairnError(error) || statusOfCode(error.code) >= 500) throw error;
    return { runId: id, ok: false, error: toEnvelope(error) };
  }
}

const ended = (runId: string, runStatus: RunStatus): TerminalError =>
  new TerminalError('run_terminal', {
    message: `Run ${runId} is ${runStatus}; there is nothing left to cancel.`,
    details: { runStatus },
  });

async function pauseRun(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const body = parseShape(pauseBody, call.request.body ?? {}, 'The pause request');
  const { drainPolicy = 'drain-current-node', reason } = body;
  const { tenant, principal } = call.caller;
  return recordedCommand<RunPaused>(call, {
    status: 202,
    body: ({ pausedAt }) =>
      JSON.stringify({ runId, status: 'paused', ...(pausedAt === null ? {} : { pausedAt: isoTime(pausedAt) }) }),
    command: (idempotency) => engine.pause({ tenant, runId, drainPolicy, reason, principal, idempotency }),
  });
}

async function resumeRun(call: Call, engine: Engine): Promise<string> {
  const runId = runIdParam(call);
  const { reason } = parseShape(resumeBody, call.request.body ?? {}, 'The resume request');
  const { tenant, principal } = call.caller;
  return recordedCommand<RunResumed>(call, {
    status: 202,
    body: ({ resumedAt }) => JSON.stringify({ runId, status: 'running', resumedAt: isoTime(resumedAt) }),
    command: (idempotency) => engine.resume({ tenant, runId, reason, principal, idempotency }),
  });
}
