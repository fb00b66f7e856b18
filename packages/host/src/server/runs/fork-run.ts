/** Forks and retries of runs. */
import {
  type ForkOverlay,
  type ForkRun,
  forkRun as forkBody,
  MAX_OVERLAY_BYTES,
  parseShape,
  type RetryRun,
  type RunOptions,
  retryRun as retryBody,
  runForked,
  TerminalError,
} from '@cairn/protocol';
import { checkRunModelOptions, type ModelAccess } from '../../agents/models/run-model-options.ts';
import type { Engine, RunForked } from '../../engine/engine.ts';
import { utf8Size } from '../../utf8.ts';
import { requireScope } from '../access/auth.ts';
import { runIdParam } from '../http/params.ts';
import type { Call, Route, RouteDoc } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { runOptions, withFlatOptions } from './create-run.ts';

export interface ForkPorts {
  readonly engine: Engine;
  /** The models that a branch may request. */
  readonly models: ModelAccess;
}

export function forkRoutes(ports: ForkPorts): readonly Route[] {
  const common = {
    method: 'POST',
    scope: 'runs:create',
    alsoNeeds: 'runs:read',
    recordsItself: true,
    isEventBody: true,
  } as const;
  return [
    { ...common, path: '/v1/runs/{runId}:fork', handle: (call: Call) => fork(call, ports), doc: forkDoc },
    { ...common, path: '/v1/runs/{runId}:retry', handle: (call: Call) => retry(call, ports), doc: retryDoc },
  ];
}

const refusals = [
  'not_found',
  'conflict',
  'run_imported',
  'credential_forbidden',
  'mock_provider_forbidden',
  'unsupported_mock_provider',
] as const;

const forkDoc: RouteDoc = {
  id: 'forkRun',
  summary: 'Replay a run, or branch off it at an event',
  body: forkBody,
  responses: { 201: { description: 'The fork exists and goes on by itself.', shape: runForked } },
  errors: [
    ...refusals,
    'invalid_from_seq',
    'replay_memory_snapshot_unavailable',
    'interrupt_not_found',
    'interrupt_already_resolved',
  ],
};

const retryDoc: RouteDoc = {
  id: 'retryRun',
  summary: 'Branch off a failed run at the node that failed',
  body: retryBody.optional(),
  responses: { 201: { description: 'The branch exists and goes on by itself.', shape: runForked } },
  errors: refusals,
};

async function fork(call: Call, { engine, models }: ForkPorts): Promise<string> {
  const runId = runIdParam(call);
  const body = parseShape(forkBody, call.request.body, 'The fork');
  const { mode } = body;
  const fromSeq = fromSeqOf(body);
  if (mode === 'replay') refuseChanges(body);
  // An answer to a question is one, also in a branch.
  if (body.cairn?.overlay?.answer !== undefined) requireScope(call.caller, 'approvals:respond');
  const { tenant, principal, toolScopes } = call.caller;
  const request = { tenant, principal, toolScopes, runId, mode, fromSeq, ...changesOf(call, body, models) };
  return answer(call, (idempotency) => engine.fork({ ...request, idempotency }));
}

async function retry(call: Call, { engine, models }: ForkPorts): Promise<string> {
  const runId = runIdParam(call);
  const body = parseShape(retryBody, call.request.body ?? {}, 'The retry');
  const { tenant, principal, toolScopes } = call.caller;
  const request = { tenant, principal, toolScopes, runId, ...changesOf(call, body, models) };
  return answer(call, (idempotency) => engine.retry({ ...request, idempotency }));
}

const answer = (call: Call, command: Parameters<typeof recordedCommand<RunForked>>[1]['command']): Promise<string> =>
  recordedCommand<RunForked>(call, {
    status: 201,
    body: (forked) => JSON.stringify({ ...forked, eventsUrl: `/v1/runs/${forked.runId}/events` }),
    command,
  });

function fromSeqOf({ mode, fromSeq }: ForkRun): number {
  if (fromSeq !== undefined) return fromSeq;
  if (mode === 'replay') return 0;
  throw new TerminalError('validation_error', {
    message: 'A branch needs fromSeq: the sequence of the first event that is not shared.',
    hint: 'GET /v1/runs/{runId}/events lists the events with their sequence.',
    details: { field: 'fromSeq' },
  });
}

/** A replay walks the record as it is. */
function refuseChanges({ runOptionsOverlay = {}, cairn = {} }: ForkRun): void {
  const isChanged = (value: object | undefined) => value !== undefined && Object.keys(value).length > 0;
  const field = isChanged(runOptionsOverlay)
    ? 'runOptionsOverlay'
    : isChanged(cairn.overlay) || isChanged(cairn.rules) || cairn.tree === true
      ? 'cairn'
      : null;
  if (field === null) return;
  throw new TerminalError('validation_error', {
    message: `A replay changes nothing, so it takes no ${field}.`,
    hint: 'Leave it out, or ask for the mode "branch".',
    details: { field },
  });
}

interface Changes {
  readonly options: RunOptions;
  readonly overlay: ForkOverlay;
  readonly rules: NonNullable<ForkRun['cairn']>['rules'];
  readonly isWholeTree: boolean;
}

function changesOf(
  call: Call,
  { runOptionsOverlay = {}, cairn = {} }: ForkRun | RetryRun,
  models: ModelAccess,
): Changes {
  const { overlay = {}, rules, tree: isWholeTree = false } = cairn;
  const bytes = utf8Size(JSON.stringify([runOptionsOverlay, overlay]));
  if (bytes > MAX_OVERLAY_BYTES) throw tooLarge(bytes);
  const flat = withFlatOptions(runOptionsOverlay);
  if (flat.configurable !== undefined) {
    if (Object.hasOwn(flat.configurable, 'cairn.contextId')) throw ownContext();
    checkRunModelOptions(flat.configurable, call.caller.tenant, models);
  }
  return { options: runOptions(flat), overlay, rules, isWholeTree };
}

const tooLarge = (bytes: number): TerminalError =>
  new TerminalError('validation_error', {
    message: `The overlay has ${bytes} bytes as JSON; at most ${MAX_OVERLAY_BYTES} are recorded with a branch.`,
    hint: 'Keep large values outside the run and pass a reference to them.',
    details: { maxBytes: MAX_OVERLAY_BYTES },
  });

const ownContext = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'A fork has a context of its own, so configurable["cairn.contextId"] cannot be set.',
    hint: 'Leave it out.',
    details: { field: 'runOptionsOverlay.configurable' },
  });
