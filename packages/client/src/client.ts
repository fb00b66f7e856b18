/** The client: the calls of a host in groups, over one connection. */
import type { ArtifactOverview, Calibration, Discovery, EventDoc, RetentionPlan, TenantLimits } from '@cairn/protocol';
import { type Agents, agentCalls } from './agents.ts';
import { readCalibration } from './calibration.ts';
import { type CallOptions, query, read } from './calls.ts';
import { type Connection, connect, type Key } from './connection.ts';
import { type Events, eventCalls } from './events.ts';
import { type FollowOptions, follow, type RunState, type WatchOptions, watch } from './follow.ts';
import { type Inbox, inboxCalls } from './inbox.ts';
import { type Interrupts, interruptCalls } from './interrupts.ts';
import { readLimits } from './limits.ts';
import { readMetrics } from './metrics.ts';
import { type Packs, packCalls } from './packs.ts';
import { type Peers, peerCalls } from './peers.ts';
import { type ReadTokens, readTokenCalls } from './read-tokens.ts';
import { type Runs, runCalls } from './runs.ts';
import { type Session, sessionCalls } from './session.ts';
import { realTimers, type Timers } from './timers.ts';
import { type Tools, toolCalls } from './tools.ts';
import { type Webhooks, webhookCalls } from './webhooks.ts';
import { type Workflows, workflowCalls } from './workflows.ts';

export interface ClientOptions {
  /** Where the host is, e.g. `http://127.0.0.1:4700`. */
  readonly url: string;
  /** A key or token, or a function that gives one before each request. Left out in a browser, its session is used. */
  readonly key?: Key;
  /** For a whole answer, in milliseconds; streams have none. Default 60,000. */
  readonly timeoutMs?: number;
  /** How often an idempotent call is retried after a transient failure. Default 2. */
  readonly retries?: number;
  /** The longest delay between two tries to connect again, in milliseconds. Default 15,000. */
  readonly longestWaitMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default: real time and randomness. */
  readonly timers?: Timers;
}

export interface Client {
  /** What the host is and can do. */
  discovery(options?: CallOptions): Promise<Discovery>;
  readonly agents: Agents;
  /** The contexts that have artifacts, with these, newest first. Read on with `nextCursor`. */
  artifacts(page?: ArtifactPage, options?: CallOptions): Promise<ArtifactOverview>;
  /** The confidence that agents stated, compared with the verdicts of people. Repeat until `complete`. */
  calibration(options?: CallOptions): Promise<Calibration>;
  /** What this tenant may use of the host, and what it uses. */
  limits(options?: CallOptions): Promise<TenantLimits>;
  /** The rules of retention for this tenant, and the runs that would go now. */
  retention(options?: CallOptions): Promise<RetentionPlan>;
  /** What the host measures, in the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string>;
  readonly tools: Tools;
  readonly packs: Packs;
  /** The other hosts that this one knows. */
  readonly peers: Peers;
  readonly workflows: Workflows;
  readonly runs: Runs;
  /**
   * The events of a run until its terminal one; reconnects by itself, never repeats or misses an event. `switch
   * (event.type)` narrows the payload.
   */
  follow(runId: string, options?: FollowOptions): AsyncIterable<EventDoc>;
  /** The state of a run as it is and after each transition, until it is over; reconnects by itself. */
  watch(runId: string, options?: WatchOptions): AsyncIterable<RunState>;
  readonly events: Events;
  readonly interrupts: Interrupts;
  /** All open interrupts of the tenant, each with its path from the root run. */
  readonly inbox: Inbox;
  readonly webhooks: Webhooks;
  readonly session: Session;
  readonly readTokens: ReadTokens;
}

export interface ArtifactPage {
  /** Contexts of one page. Default 20, at most 50. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** What all calls of a client go through. */
export interface Wire {
  readonly connection: Connection;
  readonly timers: Timers;
  /** For a whole answer. */
  readonly timeoutMs: number;
}

export const createClient = (options: ClientOptions): Client => clientOver(wireOf(options));

export function wireOf(options: ClientOptions): Wire {
  const { timers: given = realTimers, timeoutMs = 60_000, longestWaitMs } = options;
  const timers: Timers =
    longestWaitMs === undefined
      ? given
      : { after: (ms, wake) => given.after(ms, wake), random: () => given.random(), longestWaitMs };
  const connection = connect({
    url: options.url,
    key: options.key,
    // Called through an arrow: a browser's fetch refuses any other `this` than the window.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timers,
    timeoutMs,
    retries: options.retries ?? 2,
  });
  return { connection, timers, timeoutMs };
}

export function clientOver({ connection, timers }: Wire): Client {
  return {
    discovery: (call) => read(connection, '/.well-known/openwop', call),
    agents: agentCalls(connection),
    artifacts: (page, call) => read(connection, `/v1/host/cairn/artifacts${query({ ...page })}`, call),
    calibration: (call) => readCalibration(connection, call),
    limits: (call) => readLimits(connection, call),
    retention: (call) => read(connection, '/v1/host/cairn/retention', call),
    metrics: (call) => readMetrics(connection, call),
    tools: toolCalls(connection),
    packs: packCalls(connection),
    peers: peerCalls(connection),
    workflows: workflowCalls(connection),
    runs: runCalls(connection, timers),
    follow: (runId, followed) => follow(connection, timers, runId, followed),
    watch: (runId, watched) => watch(connection, timers, runId, watched),
    events: eventCalls(connection),
    interrupts: interruptCalls(connection),
    inbox: inboxCalls(connection, timers),
    webhooks: webhookCalls(connection),
    session: sessionCalls(connection),
    readTokens: readTokenCalls(connection),
  };
}
