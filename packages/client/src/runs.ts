/** Runs: create, read, list, wait, cancel, pause, resume, fork, retry, and answer interrupts. */
import {
  type Ancestry,
  type Causes,
  type ChainChecked,
  type DebugBundle,
  type ForkRun,
  type InterruptAnswered,
  isTerminalStatus,
  type Json,
  type JsonObject,
  type PauseRun,
  type RetryRun,
  type RunArtifact,
  type RunCancelled,
  type RunChanges,
  type RunCreated,
  type RunDiff,
  type RunForked,
  type RunList,
  type RunPaused,
  type RunPurged,
  type RunResumed,
  type RunSnapshot,
  type RunStatus,
  type RunsCancelled,
} from '@cairn/protocol';
import {
  asked,
  type CallOptions,
  type ChangeOptions,
  change,
  type PastOptions,
  query,
  read,
  runPath,
  segment,
} from './calls.ts';
import type { Connection } from './connection.ts';
import { watch } from './follow.ts';
import type { Timers } from './timers.ts';

/** A run of a workflow; or of one agent, on hosts that run agents. */
export type NewRunRequest = NewRunFields & ({ readonly workflowId: string } | { readonly agentId: string });

interface NewRunFields {
  readonly inputs?: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
  /** The scope of `dedup`. */
  readonly scopeId?: string;
  /** Receives a POST with a token when the run waits for a person. */
  readonly callbackUrl?: string;
}

export interface CreateRunOptions extends ChangeOptions {
  /** `enforce` refuses the run with `run_already_active` while another of the same `scopeId` is under way. */
  readonly dedup?: 'enforce';
}

export interface RunFilter {
  readonly status?: RunStatus;
  readonly workflowId?: string;
  readonly tag?: string;
  /** Only the child runs of this run, or with `none` only runs that no run started. Without other filters. */
  readonly parentRunId?: string;
  /** Rows of one page. Default 50, at most 200. */
  readonly limit?: number;
}

export interface RunPageFilter extends RunFilter {
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface RunArtifactOptions extends CallOptions {
  /** Default: the current one. */
  readonly version?: number;
}

export interface DiffOptions extends CallOptions {
  /** Entries of each list. Default 50, at most 200. */
  readonly limit?: number;
}

export interface CausesOptions extends PastOptions {
  /** The sequence of the event whose chain of causes is wanted; or the last one. */
  readonly of?: number | 'last';
  /** Continues a page after this sequence. */
  readonly after?: number;
}

export interface ChainOptions extends CallOptions {
  /** Continues after this sequence: `next` of the answer before. */
  readonly after?: number;
}

/** A snapshot with its ETag. */
export interface MarkedRun {
  readonly run: RunSnapshot;
  /** Null when the host gives none. */
  readonly etag: string | null;
}

export interface DeleteRunOptions extends ChangeOptions {
  /** Only says what would go. */
  readonly dryRun?: boolean;
  /** Also if forks share events of the run. They cannot be read any more then. */
  readonly force?: boolean;
}

export interface Runs {
  create(run: NewRunRequest, options?: CreateRunOptions): Promise<RunCreated>;
  /** The run as it is, or as it was after one of its events. */
  get(runId: string, options?: PastOptions): Promise<RunSnapshot>;
  /** The run if it has changed since the snapshot with this etag, else null; with null, the run as it is. */
  getIfChanged(runId: string, etag: string | null, options?: CallOptions): Promise<MarkedRun | null>;
  /** One page, newest first. */
  list(filter?: RunPageFilter, options?: CallOptions): Promise<RunList>;
  /** The runs that changed since the position of an earlier answer, as the list shows them. Without one: the position of now. */
  changes(after?: string, options?: CallOptions): Promise<RunChanges>;
  /** Every run of the filter, newest first; pages are read as they are needed. */
  all(filter?: RunFilter, options?: CallOptions): AsyncIterable<RunSnapshot>;
  /** The run once it is over or asks a question (then `interrupt` is set). A paused run is waited for. */
  wait(runId: string, options?: { readonly signal?: AbortSignal }): Promise<RunSnapshot>;
  cancel(runId: string, reason?: string, options?: ChangeOptions): Promise<RunCancelled>;
  /** At most 100 at once. One row of the answer for each id, in order; one that could not be cancelled says why. */
  bulkCancel(runIds: readonly string[], reason?: string, options?: ChangeOptions): Promise<RunsCancelled>;
  /** Purges a root run that has ended, with the runs below it. It cannot be undone. */
  delete(runId: string, options?: DeleteRunOptions): Promise<RunPurged>;
  /** Nodes under way finish first, unless `drainPolicy` is `immediate`. */
  pause(runId: string, pause?: PauseRun, options?: ChangeOptions): Promise<RunPaused>;
  resume(runId: string, reason?: string, options?: ChangeOptions): Promise<RunResumed>;
  /** A new run that shares the events before `fromSeq`: `replay` repeats the record, `branch` goes on live. */
  fork(runId: string, fork: ForkRun, options?: ChangeOptions): Promise<RunForked>;
  /** A branch of a failed run at the node that failed. */
  retry(runId: string, retry?: RetryRun, options?: ChangeOptions): Promise<RunForked>;
  /** Answers a node that waits; or an interrupt by its id, so that an answer sent twice never meets the next question. */
  answer(runId: string, nodeOrInterruptId: string, value: Json, options?: ChangeOptions): Promise<InterruptAnswered>;
  /** An artifact of its context: the current version, or the one named. Content over 256 KiB is at its `url`. */
  artifact(runId: string, artifactId: string, options?: RunArtifactOptions): Promise<RunArtifact>;
  /** What two runs did differently: the first divergence, decisions, calls, texts and state. */
  diff(runId: string, against: string, options?: DiffOptions): Promise<RunDiff>;
  /** The run that requested this one, here or on another host. */
  ancestry(runId: string, options?: CallOptions): Promise<Ancestry>;
  /** The recorded causes of its events: a page of them, or the chain from one event up. */
  causes(runId: string, options?: CausesOptions): Promise<Causes>;
  /** Checks the hash chain of its events. Go on with `after: next` until `next` is null. */
  chain(runId: string, options?: ChainOptions): Promise<ChainChecked>;
  /** The run with its events and spans in one document, for debugging. */
  debugBundle(runId: string, options?: PastOptions): Promise<DebugBundle>;
}

export function runCalls(connection: Connection, timers: Timers): Runs {
  const post = <Body>(path: string, body: unknown = {}, options?: ChangeOptions) =>
    change<Body>(connection, { path, body }, options);
  const list: Runs['list'] = (filter, options) => read(connection, `/v1/runs${query({ ...filter })}`, options);
  return {
    create: (run, options) =>
      change(
        connection,
        { path: '/v1/runs', body: run, headers: options?.dedup === undefined ? {} : { 'x-dedup': options.dedup } },
        options,
      ),
    get: (runId, options) => read(connection, runPath(runId), options),
    getIfChanged: (runId, etag, options) => getIfChanged(connection, runId, etag, options),
    list,
    changes: (after, options) => read(connection, `/v1/host/cairn/run-changes${query({ after })}`, options),
    all: (filter, options) => allPages(list, filter, options),
    wait: (runId, options) => wait(connection, timers, runId, options),
    cancel: (runId, reason, options) => post(`${runPath(runId)}/cancel`, { reason }, options),
    bulkCancel: (runIds, reason, options) => post('/v1/runs:bulk-cancel', { runIds, reason }, options),
    delete: (runId, { dryRun, force, ...options } = {}) =>
      change(
        connection,
        {
          method: 'DELETE',
          path: `${runPath(runId)}${query({ dryRun, force })}`,
        },
        options,
      ),
    pause: (runId, pause, options) => post(`${runPath(runId)}:pause`, pause, options),
    resume: (runId, reason, options) => post(`${runPath(runId)}:resume`, { reason }, options),
    fork: (runId, fork, options) => post(`${runPath(runId)}:fork`, fork, options),
    retry: (runId, retry, options) => post(`${runPath(runId)}:retry`, retry, options),
    answer: (runId, waiting, value, options) =>
      post(`${runPath(runId)}/interrupts/${segment(waiting)}`, { resumeValue: value }, options),
    artifact: (runId, artifactId, { version, ...options } = {}) =>
      read(connection, `${runPath(runId)}/artifacts/${segment(artifactId)}${query({ version })}`, options),
    diff: (runId, against, options) =>
      read(connection, `${runPath(runId)}:diff${query({ against, limit: options?.limit })}`, options),
    ancestry: (runId, options) => read(connection, `${runPath(runId)}/ancestry`, options),
    causes: (runId, { of, after, atSeq, ...options } = {}) =>
      read(connection, `/v1/host/cairn/runs/${segment(runId)}/causes${query({ of, after, atSeq })}`, options),
    chain: (runId, { after, ...options } = {}) =>
      read(connection, `/v1/host/cairn/runs/${segment(runId)}/chain${query({ after })}`, options),
    debugBundle: (runId, options) => read(connection, `${runPath(runId)}/debug-bundle`, options),
  };
}

async function getIfChanged(
  connection: Connection,
  runId: string,
  etag: string | null,
  options?: CallOptions,
): Promise<MarkedRun | null> {
  const answer = await connection.call({
    method: 'GET',
    path: runPath(runId),
    headers: etag === null ? {} : { 'if-none-match': etag },
    ...asked(options),
  });
  if (answer.status === 304) return null;
  return { run: answer.body as RunSnapshot, etag: answer.headers.get('etag') };
}

async function* allPages(list: Runs['list'], filter?: RunFilter, options?: CallOptions): AsyncGenerator<RunSnapshot> {
  let cursor: string | undefined;
  do {
    const page: RunList = await list({ ...filter, ...(cursor === undefined ? {} : { cursor }) }, options);
    yield* page.runs;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

async function wait(
  connection: Connection,
  timers: Timers,
  runId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<RunSnapshot> {
  let latest: RunSnapshot | null = null;
  for await (const state of watch(connection, timers, runId, options)) {
    latest = state;
    if (isTerminalStatus(state.status) || state.interrupt !== undefined) break;
  }
  // A stream of states ends only after one.
  return latest ?? read(connection, runPath(runId), options);
}
