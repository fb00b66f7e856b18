/** The trace context of outbound calls: each request that a call makes continues the trace of its run. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { foldEventOf, type RunId } from '@cairn/protocol';
import type { Performer } from '../engine/ports.ts';
import type { EventLog } from '../log/ports/event-log.ts';
import { LruMap } from '../lru-map.ts';
import {
  derivedTraceId,
  formatTraceparent,
  type InboundTrace,
  isSampled,
  parseTraceparent,
  spanIdOf,
} from './trace-context.ts';

/** A call, by the row that requested it. That row opens its span. */
export interface CallPlace {
  readonly runId: RunId;
  readonly requestedSeq: number;
}

interface RunTrace {
  readonly traceId: string;
  readonly tracestate: string | undefined;
  readonly sampled: boolean;
}

/** Runs whose trace is kept in memory. */
const MAX_KEPT = 1_000;

export class CallTraces {
  readonly #log: Pick<EventLog, 'head' | 'read'>;
  readonly #share: number;
  readonly #inProgress = new AsyncLocalStorage<CallPlace>();
  readonly #traces = new LruMap<RunId, RunTrace>(MAX_KEPT);

  /** `share` is the share of new traces that are sampled. */
  constructor(log: Pick<EventLog, 'head' | 'read'>, share: number) {
    this.#log = log;
    this.#share = share;
  }

  /** The same performer, whose requests carry the trace of their call. */
  traced(performer: Performer): Performer {
    return {
      ...performer,
      run: (input, context) => this.inCall(context, () => performer.run(input, context)),
    };
  }

  /** Does work whose requests carry the trace of a call, also after its end. */
  inCall<Result>(call: CallPlace, work: () => Result): Result {
    return this.#inProgress.run(call, work);
  }

  /** The trace headers of the call in progress; none outside of a call, or while the store cannot be read. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    const place = this.#inProgress.getStore();
    if (place === undefined) return {};
    // A store that is away for a moment must not fail the call.
    const trace = await this.of(place).catch(() => null);
    if (trace === null) return {};
    const { traceparent, tracestate } = trace;
    return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  }

  /** The trace context below the span of a call. */
  async of({ runId, requestedSeq }: CallPlace): Promise<InboundTrace> {
    const { traceId, sampled, tracestate } = this.#traces.get(runId) ?? (await this.#read(runId));
    const traceparent = formatTraceparent({ traceId, spanId: spanIdOf(runId, requestedSeq), sampled });
    return { traceparent, tracestate };
  }

  /** As the spans of the run have it: a fork is a trace of its own. */
  async #read(runId: RunId): Promise<RunTrace> {
    const head = await this.#log.head(runId);
    const [first] = head?.record.fork == null ? await this.#log.read({ runId, after: -1, limit: 1 }) : [];
    const event = first === undefined ? null : foldEventOf(first);
    const { traceparent, tracestate } = event?.type === 'run.started' ? event.payload : {};
    const parent = parseTraceparent(traceparent);
    const trace: RunTrace = {
      traceId: parent?.traceId ?? derivedTraceId(runId),
      tracestate: parent === null ? undefined : tracestate,
      sampled: isSampled(runId, parent === null ? undefined : traceparent, this.#share),
    };
    this.#traces.set(runId, trace);
    return trace;
  }
}

/** A fetch whose requests carry the trace of the call in progress. */
export const tracedFetch =
  (fetch: typeof globalThis.fetch, traces: Pick<CallTraces, 'headers'>): typeof globalThis.fetch =>
  async (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(await traces.headers())) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
