/** W3C trace context. Parses inbound headers leniently. Span ids derive from the run id, so they need no storage. */
import { hash } from 'node:crypto';

/** Returns this many random hex digits. */
export type RandomHex = (digits: number) => string;

/** The caller's position in a trace, from a `traceparent` header. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** The request headers recorded with the run that the request creates. */
export interface InboundTrace {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Returns null for a malformed header, which starts a new trace and never fails a request. */
export function parseTraceparent(text: unknown): TraceParent | null {
  if (typeof text !== 'string' || text.length > 256) return null;
  const [, version, traceId, spanId, flags, more] = shape.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return null;
  // Only a later version may have more fields; ff is not a version.
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (zeros.test(traceId) || zeros.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;

function isTracestate(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > 512) return false;
  const members = text.split(',').map((part) => part.trim());
  return members.length <= 32 && members.every((part) => member.test(part));
}

/** The trace headers to record with a new run; undefined when the request belongs to no trace. */
export function inboundTrace(headers: Readonly<Record<string, unknown>>): InboundTrace | undefined {
  const parent = parseTraceparent(headers.traceparent);
  if (parent === null) return undefined;
  const { tracestate } = headers;
  return { traceparent: formatTraceparent(parent), ...(isTracestate(tracestate) ? { tracestate } : {}) };
}

/** The `traceparent` of a response: in the caller's trace, or in a new one. */
export function answerTraceparent(headers: Readonly<Record<string, unknown>>, randomHex: RandomHex): string {
  const parent = parseTraceparent(headers.traceparent);
  const traceId = parent?.traceId ?? randomHex(32);
  return formatTraceparent({ traceId, spanId: randomHex(16), sampled: parent?.sampled ?? false });
}

const digest = (text: string, digits: number): string => hash('sha256', text, 'hex').slice(0, digits);

/** The trace id of a run whose request had no trace. */
export const derivedTraceId = (runId: string): string => digest(`trace:${runId}`, 32);

/** The id of the span that an event opens. An event opens at most one span of each role. */
export const spanIdOf = (runId: string, seq: number, role: 'main' | 'attempt' = 'main'): string =>
  digest(`span:${runId}:${seq}:${role}`, 16);

/** The caller's decision stands. A trace that starts here is sampled by its id, so that all nodes agree. */
export function isSampled(runId: string, traceparent: string | undefined, share: number): boolean {
  const parent = parseTraceparent(traceparent);
  if (parent !== null) return parent.sampled;
  // 52 bits of the id fit a number without rounding.
  return Number.parseInt(derivedTraceId(runId).slice(0, 13), 16) < share * 2 ** 52;
}
