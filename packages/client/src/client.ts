/** The client: what a program can ask of a host, one function per route. */
import type { Json, JsonObject, RunEventDoc, RunSnapshot, RunStatus, WorkflowDefinition } from '@cairn/protocol';
import { connect } from './connection.ts';
import { type FollowOptions, follow } from './follow.ts';
import { realTimers, type Timers } from './timers.ts';

export interface ClientOptions {
  /** Where the host is, e.g. `http://127.0.0.1:4700`. */
  readonly url: string;
  readonly key: string;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default: real time and chance. */
  readonly timers?: Timers;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CreateRunOptions extends CallOptions {
  /** Sent again with the same key, the same request gives the same run. At most 255 characters. */
  readonly idempotencyKey?: string;
}

export interface NewRunRequest {
  readonly workflowId: string;
  readonly inputs?: JsonObject;
  readonly configurable?: JsonObject;
  readonly tags?: readonly string[];
  readonly metadata?: JsonObject;
}

export interface CreatedRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly workflowId: string;
  readonly eventsUrl: string;
  readonly statusUrl: string;
}

export interface RunFilter {
  readonly status?: RunStatus;
  readonly workflowId?: string;
  readonly tag?: string;
  /** Default 50, at most 200. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface RunList {
  readonly runs: readonly RunSnapshot[];
  readonly nextCursor: string | null;
}

export interface Client {
  readonly runs: {
    create(run: NewRunRequest, options?: CreateRunOptions): Promise<CreatedRun>;
    get(runId: string, options?: CallOptions): Promise<RunSnapshot>;
    /** Newest first. */
    list(filter?: RunFilter, options?: CallOptions): Promise<RunList>;
    cancel(runId: string, reason?: string, options?: CallOptions): Promise<{ runId: string; status: RunStatus }>;
    /** Answers a node that waits; or an interrupt by its id, so that an answer sent twice never meets the next question. */
    answer(
      runId: string,
      nodeOrInterruptId: string,
      value: Json,
      options?: CallOptions,
    ): Promise<{ runId: string; nodeId: string; status: RunStatus }>;
  };
  readonly workflows: {
    register(
      definition: WorkflowDefinition,
      options?: CallOptions,
    ): Promise<{ readonly workflowId: string; readonly version: string }>;
    get(workflowId: string, options?: CallOptions): Promise<WorkflowDefinition>;
  };
  /** The events of a run until its terminal one; reconnects by itself, never repeats or misses an event. */
  follow(runId: string, options?: FollowOptions): AsyncIterable<RunEventDoc>;
}

export function createClient(options: ClientOptions): Client {
  const timers = options.timers ?? realTimers;
  const connection = connect({
    url: options.url,
    key: options.key,
    // Called through an arrow: a browser's fetch refuses any other `this` than the window.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  });
  const get = <Body>(path: string, call?: CallOptions) =>
    connection.json<Body>({ method: 'GET', path, signal: call?.signal });
  const post = <Body>(path: string, body: unknown, call?: CallOptions) =>
    connection.json<Body>({ method: 'POST', path, body, signal: call?.signal });

  return {
    runs: {
      create: (run, call) =>
        connection.json<CreatedRun>({
          method: 'POST',
          path: '/v1/runs',
          body: run,
          signal: call?.signal,
          headers: call?.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey },
        }),
      get: (runId, call) => get(runPath(runId), call),
      list: (filter, call) => get(`/v1/runs${query(filter)}`, call),
      cancel: (runId, reason, call) => post(`${runPath(runId)}/cancel`, reason === undefined ? {} : { reason }, call),
      answer: (runId, waiting, value, call) =>
        post(`${runPath(runId)}/interrupts/${encodeURIComponent(waiting)}`, { resumeValue: value }, call),
    },
    workflows: {
      register: (definition, call) => post('/v1/workflows', definition, call),
      get: (workflowId, call) => get(`/v1/workflows/${encodeURIComponent(workflowId)}`, call),
    },
    follow: (runId, followOptions) => follow(connection, timers, runId, followOptions),
  };
}

const runPath = (runId: string): string => `/v1/runs/${encodeURIComponent(runId)}`;

function query(filter: RunFilter | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (value !== undefined) params.set(name, String(value));
  }
  return params.size === 0 ? '' : `?${params}`;
}
