/** A request that must not be carried out twice: the first one acts, every later one gets its recorded answer. */
import { hash } from 'node:crypto';
import { isCairnError, RetryableError, TerminalError } from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { IdempotencyRecord, Records } from '../log/port.ts';

export interface OnceRequest {
  readonly tenant: string;
  /** The routed operation, e.g. `POST /v1/runs`. */
  readonly endpoint: string;
  readonly key: string;
  /** The parsed body; its canonical form is what must be equal. */
  readonly body: unknown;
}

export interface OnceAnswer {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

/** Does the work and commits the record with it, in one append. */
export type OnceWork = (requestDigest: string) => Promise<{ readonly status: number; readonly body: string }>;

export type Once = (request: OnceRequest, work: OnceWork) => Promise<OnceAnswer>;

/** Longest `Idempotency-Key`. */
const MAX_KEY_LENGTH = 255;

/** How long outcomes are kept at least. */
export const IDEMPOTENCY_RETENTION_MS = 86_400_000;

export function idempotencyKeyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? header : (header[0] ?? '');
  if (key.length >= 1 && key.length <= MAX_KEY_LENGTH) return key;
  throw new TerminalError('validation_error', {
    message: `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters, not ${key.length}.`,
    details: { parameter: 'Idempotency-Key' },
  });
}

export function createOnce(records: Records): Once {
  // Only spares duplicates on this node the work; what makes it safe is the record in the append's transaction.
  const inFlight = new Map<string, Promise<unknown>>();

  const recorded = async (request: OnceRequest, digest: string): Promise<OnceAnswer | null> => {
    const record = await records.idempotency(request.tenant, request.endpoint, request.key);
    return record === null ? null : replay(record, digest);
  };

  return async (request, work) => {
    const digest = hash('sha256', canonicalize(request.body) ?? '', 'hex');
    const name = JSON.stringify([request.tenant, request.endpoint, request.key]);
    for (let running = inFlight.get(name); running !== undefined; running = inFlight.get(name)) {
      await running.catch(() => undefined);
      const answer = await recorded(request, digest);
      if (answer !== null) return answer;
    }
    const attempt = (async (): Promise<OnceAnswer> => {
      const earlier = await recorded(request, digest);
      if (earlier !== null) return earlier;
      try {
        return { ...(await work(digest)), replayed: false };
      } catch (error) {
        if (!isCairnError(error, 'conflict')) throw error;
        // Another node was first: its record is there, or it is still on the way.
        const theirs = await recorded(request, digest);
        if (theirs !== null) return theirs;
        throw inFlightElsewhere(error);
      }
    })();
    inFlight.set(name, attempt);
    try {
      return await attempt;
    } finally {
      inFlight.delete(name);
    }
  };
}

function replay(record: IdempotencyRecord, digest: string): OnceAnswer {
  if (record.requestDigest === digest) return { status: record.status, body: record.body, replayed: true };
  throw new TerminalError('idempotency_key_mismatch', {
    message: `This Idempotency-Key was used for another ${record.endpoint} request.`,
    hint: 'Use a fresh key for a different request, or send the first request unchanged.',
  });
}

const inFlightElsewhere = (cause: unknown): RetryableError =>
  new RetryableError('idempotency_in_flight', {
    message: 'The same request is being carried out at this moment.',
    hint: 'Send it again, unchanged, in a second.',
    details: { retryAfter: 1 },
    cause,
  });
