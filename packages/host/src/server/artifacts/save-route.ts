/** `PUT` of an artifact: a human edit, written by a short task of the host. */
import {
  type ArtifactFamily,
  artifactEdit,
  artifactSaved,
  type ContextId,
  type ErrorCode,
  errorKinds,
  isCairnError,
  isJsonObject,
  isTerminalType,
  type Json,
  parseRunId,
  quoted,
  RetryableError,
  type RunId,
  TerminalError,
} from '@cairn/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isArtifactName, isMimeType } from '../../agents/tools/artifact-names.ts';
import type { Engine, RunStarted } from '../../engine/engine.ts';
import type { LoadView } from '../../engine/loading/run-view.ts';
import { refuseSecrets } from '../../engine/values/redacted.ts';
import type { ArtifactSummary } from '../../log/ports/artifacts.ts';
import type { Store } from '../../log/ports/store.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import type { Gate } from '../access/gate.ts';
import { visibleContext } from '../contexts/context-params.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { editInputs, editRun } from './edit-run.ts';
import { replacedVersion } from './preconditions.ts';
import { receiveUpload, type Upload, type UploadPorts } from './upload.ts';

export interface SaveSurface extends Omit<UploadPorts, 'blobs'> {
  readonly store: Pick<Store, 'log' | 'contexts' | 'artifacts' | 'blobs'>;
  readonly engine: Pick<Engine, 'start'>;
  readonly loadView: LoadView;
  readonly gate: Pick<Gate, 'guessed'>;
}

const families = ['file', 'data', 'dataset'] as const satisfies readonly ArtifactFamily[];

export function saveRoute(surface: SaveSurface): Route {
  /** What `receive` read, until `handle` starts its task. */
  const received = new WeakMap<FastifyRequest, Upload>();
  return {
    method: 'PUT',
    path: '/api/contexts/{contextId}/artifacts/{artifactId}',
    scope: 'runs:create',
    holds: true,
    recordsItself: true,
    async receive(call) {
      const upload = await receive(call, surface);
      received.set(call.request, upload);
      return [upload.family, upload.sha256, call.request.headers['if-match'] ?? null];
    },
    handle: (call) => start(call, surface, received.get(call.request)),
    follow: (call, text) => saved(call, text, surface),
    doc: {
      id: 'saveArtifact',
      summary: 'Write a version of an artifact',
      query: z.object({
        family: z
          .enum(families)
          .optional()
          .describe(
            'Default: that of the artifact. A new one is a file, unless its body is JSON: then a record or a dataset.',
          ),
      }),
      headers: z.object({
        'if-match': z
          .string()
          .optional()
          .describe('The ETag of the version that was edited. Required for an artifact that exists.'),
        'if-none-match': z.literal('*').optional().describe('Creates the artifact, or fails.'),
      }),
      body: artifactEdit,
      takesBytes: true,
      responses: {
        200: { description: 'The version is current.', shape: artifactSaved },
        201: { description: 'The artifact is new.', shape: artifactSaved },
        202: { description: 'The task is still at work; follow the context.', shape: artifactSaved },
      },
      errors: [
        'not_found',
        'artifact_version_conflict',
        'precondition_required',
        'artifact_too_large',
        'upload_stalled',
        'quota_exceeded',
      ],
    },
  };
}

interface Target {
  readonly contextId: ContextId;
  readonly artifactId: string;
  readonly found: ArtifactSummary | null;
}

async function targetOf(call: Call, { store }: SaveSurface): Promise<Target> {
  const contextId = await visibleContext(call, store.contexts);
  const artifactId = pathParam(call, 'artifactId');
  const found = await store.artifacts.summary(contextId, artifactId);
  if (found?.current == null && !isArtifactName(artifactId)) throw badName(artifactId);
  return { contextId, artifactId, found };
}

const preconditions = ({ headers }: FastifyRequest) => ({
  ifMatch: headers['if-match'],
  ifNoneMatch: headers['if-none-match'],
});

/** Reads the body. Without an `Idempotency-Key`, checks first and does not read a body that would be refused. */
async function receive(call: Call, surface: SaveSurface): Promise<Upload> {
  const { request, caller } = call;
  try {
    refuseSecretNames(call, surface);
    const { artifactId, found } = await targetOf(call, surface);
    const family = familyOf(call) ?? found?.current?.family ?? null;
    if (request.headers['idempotency-key'] === undefined) replacedVersion(artifactId, found, preconditions(request));
    const known = found?.current?.family === 'file' ? found.current.mimeType : null;
    const contentType = typeOf(request) ?? known ?? undefined;
    const target = { tenant: caller.tenant, artifactId, family, contentType };
    const upload = await receiveUpload(request.raw, target, { ...surface, blobs: surface.store.blobs });
    // Readers see where a secret was redacted, which confirms a guess.
    if (upload.heldSecret) surface.gate.guessed(request);
    return upload;
  } catch (error) {
    if (isCairnError(error, 'upload_stalled')) call.reply.header('connection', 'close');
    leaveUnread(call, surface);
    throw error;
  }
}

/** A name and a type must stay as they are. Whether they hold a secret tells which guess is right. */
function refuseSecretNames(call: Call, { redactor, gate }: SaveSurface): void {
  const exact = { artifactId: pathParam(call, 'artifactId'), 'Content-Type': call.request.headers['content-type'] };
  if (redactor === null || redactor.secretIn(exact) === null) return;
  gate.guessed(call.request);
  refuseSecrets(redactor, 'The artifact', exact);
}

/** Bytes to discard of a refused body. The host closes a connection that sends more. */
const MAX_DISCARDED_BYTES = 67_108_864;

/** How long to keep discarding. */
const DISCARDED_WITHIN_MS = 30_000;

/** A client that is still sending sees the response only if the host keeps reading. */
function leaveUnread({ request: { raw, headers }, reply }: Call, { timers }: SaveSurface): void {
  if (raw.readableEnded) return;
  const size = Number(headers['content-length'] ?? Number.NaN);
  if (!(size <= MAX_DISCARDED_BYTES)) reply.header('connection', 'close');
  const callOff = timers.after(DISCARDED_WITHIN_MS, () => raw.socket.destroy());
  raw.once('close', callOff);
  raw.resume();
}

/** Starts the task. Only ids are recorded for an `Idempotency-Key`: a repeated request waits for the same task. */
async function start(call: Call, surface: SaveSurface, upload: Upload | undefined): Promise<string> {
  if (upload === undefined) throw new TerminalError('internal_error', { message: 'The body was not received.' });
  const { contextId, artifactId, found } = await targetOf(call, surface);
  const expectedVersion = replacedVersion(artifactId, found, preconditions(call.request));
  const { tenant, principal } = call.caller;
  const { family, manifest } = upload;
  return recordedCommand<RunStarted>(call, {
    status: expectedVersion === 0 ? 201 : 200,
    body: ({ runId }) => JSON.stringify({ artifactId, contextId, taskId: runId }),
    command: (idempotency) =>
      surface.engine.start({
        tenant,
        principal,
        workflowId: editRun.id,
        definition: editRun,
        inputs: editInputs({ artifactId, family, expectedVersion, manifest }),
        options: {},
        contextId,
        trace: inboundTrace(call.request.headers),
        idempotency,
      }),
  });
}

/** The host responds with 202 if the task takes longer. */
const WITHIN_MS = 30_000;

/** Waits until the task has ended, and answers with what it wrote. */
async function saved(call: Call, text: string, surface: SaveSurface): Promise<string> {
  const { artifactId, contextId, taskId } = startedEdit(JSON.parse(text));
  const isOver = await ended(taskId, surface);
  if (!isOver) {
    call.reply.code(202);
    return JSON.stringify({ artifactId, contextId, taskId });
  }
  const { error, outputs } = await surface.loadView(taskId);
  const version = Number(outputs?.version);
  if (!(version >= 1)) throw failureOf(error);
  call.reply.header('etag', `"${version}"`);
  return JSON.stringify({ artifactId, version, contextId, taskId });
}

function startedEdit(recorded: Json) {
  const { artifactId = '', contextId = '', taskId = '' } = isJsonObject(recorded) ? recorded : {};
  const runId = parseRunId(String(taskId));
  if (runId === null) throw new TerminalError('internal_error', { message: 'The recorded task has no id.' });
  return { artifactId: String(artifactId), contextId: String(contextId), taskId: runId };
}

/** Whether the run ended in time. */
async function ended(runId: RunId, { store, timers }: SaveSurface): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const unfollow = store.log.follow(
    (commit) => {
      if (commit.runId === runId && commit.rows.some(({ type }) => isTerminalType(type))) resolve(true);
    },
    { waits: (of) => of.runId === runId },
  );
  const cancel = timers.after(WITHIN_MS, () => resolve(false));
  try {
    const head = await store.log.head(runId);
    if (head === null || head.record.endedAt !== null) return true;
    return await promise;
  } finally {
    unfollow();
    cancel();
  }
}

/** The error of the task, as the response to the request. */
function failureOf(error: { readonly code: string; readonly message: string; readonly details?: Json } | null) {
  const code = Object.keys(errorKinds).find((known): known is ErrorCode => known === error?.code);
  const message = error?.message ?? 'The task that writes the artifact was canceled.';
  const details = isJsonObject(error?.details) ? { details: error.details } : {};
  const hint = 'Read the current version, and write again with a new Idempotency-Key.';
  if (code === 'artifact_version_conflict') return new RetryableError(code, { message, hint, ...details });
  return new TerminalError(code ?? 'conflict', { message, hint, ...details });
}

function familyOf(call: Call): ArtifactFamily | null {
  const text = queryParam(call, 'family');
  if (text === undefined) return null;
  const family = families.find((one) => one === text);
  if (family !== undefined) return family;
  throw new TerminalError('validation_error', {
    message: `family cannot be ${quoted(text, 60)}.`,
    hint: `Use ${families.join(', ')}, or leave it out.`,
    details: { parameter: 'family' },
  });
}

function typeOf({ headers }: FastifyRequest): string | null {
  const text = headers['content-type'];
  if (text === undefined) return null;
  if (isMimeType(text)) return text;
  throw new TerminalError('unsupported_media_type', {
    message: `The Content-Type ${quoted(text, 80)} is not well-formed.`,
    hint: 'Use a type such as text/markdown, or leave it out: then the name of the artifact decides.',
  });
}

const badName = (artifactId: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `An artifact cannot have the name ${quoted(artifactId, 80)}.`,
    hint: 'Use at most 512 characters, such as report.md: no "..", "\\" or control characters.',
  });
