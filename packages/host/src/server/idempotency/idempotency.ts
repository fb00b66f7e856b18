/** A request that must not be carried out twice: the first one acts, every later one gets its recorded answer. */
import { hash } from 'node:crypto';
import {
  type CairnError,
  isCairnError,
  RetryableError,
  statusOfCode,
  TerminalError,
  toEnvelope,
} from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { Redactor, Report, UniqueId } from '../../engine/ports.ts';
import type {
  IdempotencyClaim,
  IdempotencyRecord,
  IdempotencyRecords,
  IdempotencyState,
} from '../../log/ports/idempotency.ts';

export interface OnceRequest {
  readonly tenant: string;
  /** The routed operation, e.g. `POST /v1/runs`. */
  readonly endpoint: string;
  /** As the client sent it; only its hash is kept. */
  readonly key: string;
  /** Whatever must be equal for two requests to be the same: path parameters, query, body. */
  readonly content: unknown;
  /** Not taken in hand first: the work always writes the outcome of its success itself, and so what comes second fails. */
  readonly commitsOutcome: boolean;
}

/** What a record is known by, and who has its request in hand; for work that commits its own outcome. */
export interface OnceMark {
  readonly tenant: string;
  readonly endpoint: string;
  readonly key: string;
  readonly requestDigest: string;
  readonly owner: string | null;
}

export interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OnceAnswer extends Outcome {
  readonly replayed: boolean;
}

export type OnceWork = (mark: OnceMark) => Promise<Outcome>;

export interface IdempotencyWorld {
  readonly idempotency: IdempotencyRecords;
  readonly now: () => number;
  readonly uniqueId: UniqueId;
  readonly report: Report;
  /** An answer may quote the request: what is kept of it holds no secret. */
  readonly redactor: Redactor | null;
}

/** Longest `Idempotency-Key`. */
const MAX_KEY_LENGTH = 255;

/** How long outcomes are kept at least. */
export const IDEMPOTENCY_RETENTION_MS = 86_400_000;

/** How long a request is one node's alone. A node that died with it lets the next one have it after this time. */
export const IDEMPOTENCY_LEASE_MS = 30_000;

export function idempotencyKeyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = typeof header === 'string' ? header : (header[0] ?? '');
  if (key.length >= 1 && key.length <= MAX_KEY_LENGTH) return key;
  throw new TerminalError('validation_error', {
    message: `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters, not ${key.length}.`,
    hint: 'Use a fresh random text, such as a UUID, for each request you may have to repeat.',
    details: { parameter: 'Idempotency-Key' },
  });
}

export class Idempotency {
  readonly #world: IdempotencyWorld;
  /** Only lets duplicates at this node wait for the answer; what makes it safe is the record in the store. */
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(world: IdempotencyWorld) {
    this.#world = world;
  }

  async carryOut(request: OnceRequest, work: OnceWork): Promise<OnceAnswer> {
    const { tenant, endpoint } = request;
    const key = hash('sha256', `${tenant}:${endpoint}:${request.key}`, 'hex');
    const requestDigest = hash('sha256', canonicalize(request.content) ?? '', 'hex');
    const mark = { tenant, endpoint, key, requestDigest, owner: null };
    for (let running = this.#inFlight.get(key); running !== undefined; running = this.#inFlight.get(key)) {
      await running.catch(() => undefined);
      const answer = await this.#recorded(mark);
      if (answer !== null) return answer;
    }
    const attempt = request.commitsOutcome
      ? this.#recordedByWork(mark, work)
      : this.#inHand({ ...mark, owner: this.#world.uniqueId() }, work);
    this.#inFlight.set(key, attempt);
    try {
      return await attempt;
    } finally {
      this.#inFlight.delete(key);
    }
  }

  /** The final answer that is recorded, if there is one. */
  async #recorded(mark: OnceMark): Promise<OnceAnswer | null> {
    const record = await this.#world.idempotency.get(mark);
    return record === null ? null : replay(record, mark);
  }

  async #recordedByWork(mark: OnceMark, work: OnceWork): Promise<OnceAnswer> {
    const earlier = await this.#recorded(mark);
    if (earlier !== null) return earlier;
    try {
      return { ...(await work(mark)), replayed: false };
    } catch (error) {
      if (isCairnError(error, 'conflict') && error.retryable) {
        // Another node was first: its record is there, or it is still on the way.
        const theirs = await this.#recorded(mark);
        if (theirs !== null) return theirs;
        throw inFlightElsewhere(error);
      }
      if (isCairnError(error) && fate(error) === 'terminal-failure') {
        await this.#settle(mark, 'terminal-failure', this.#redacted(failure(error)));
      }
      throw error;
    }
  }

  /** Work may commit its outcome with its effect; then there is nothing left to settle here. */
  async #inHand(mark: OnceMark & { readonly owner: string }, work: OnceWork): Promise<OnceAnswer> {
    const { idempotency } = this.#world;
    const now = this.#world.now();
    const claim: IdempotencyClaim = { ...mark, now, until: now + IDEMPOTENCY_LEASE_MS };
    const standing = await idempotency.claim(claim);
    if (standing !== null) {
      const answer = replay(standing, mark);
      if (answer === null) throw inFlightElsewhere();
      return answer;
    }
    try {
      const outcome = this.#redacted(await work(mark));
      await this.#settle(mark, 'completed', outcome);
      return { ...outcome, replayed: false };
    } catch (error) {
      const state = isCairnError(error) ? fate(error) : 'retryable-failure';
      if (state === 'forgotten') await this.#quietly(idempotency.drop(claim));
      else await this.#settle(mark, state, this.#redacted(isCairnError(error) ? failure(error) : nothing));
      throw error;
    }
  }

  #settle(mark: OnceMark, state: IdempotencyState, { status, headers, body }: Outcome): Promise<void> {
    const at = this.#world.now();
    const answer = { status, headers: JSON.stringify(headers), body };
    const record: IdempotencyRecord = { ...mark, state, owner: null, until: null, ...answer, at };
    return this.#quietly(this.#world.idempotency.save({ record, owner: mark.owner }));
  }

  /** The spellings of a secret in JSON are known, so a body without one is as it should be; one that is sealed shows none. */
  #redacted(outcome: Outcome): Outcome {
    const { redactor } = this.#world;
    if (redactor === null || redactor.text(outcome.body) === outcome.body) return outcome;
    return { ...outcome, body: JSON.stringify(redactor.value(JSON.parse(outcome.body))) };
  }

  /** What was done is done, and is answered for, also when it could not be written down. */
  #quietly(written: Promise<void>): Promise<void> {
    return written.catch((error: unknown) =>
      this.#world.report({ level: 'warn', event: 'idempotency.record_failed', error }),
    );
  }
}

const nothing: Outcome = { status: 0, headers: {}, body: '' };

const failure = (error: CairnError): Outcome => ({
  status: statusOfCode(error.code),
  headers: {},
  body: JSON.stringify(toEnvelope(error)),
});

/** What is kept of a failed request: a final refusal to be repeated; or that it may be tried again; or nothing, so that it can be put right. */
function fate(error: CairnError): 'terminal-failure' | 'retryable-failure' | 'forgotten' {
  const status = statusOfCode(error.code);
  if (error.retryable || status >= 500 || status === 429) return 'retryable-failure';
  return error.code === 'validation_error' || status === 401 || status === 403 ? 'forgotten' : 'terminal-failure';
}

/** The recorded answer; null while there is none, or none that may be repeated. */
function replay(record: IdempotencyRecord, { requestDigest }: OnceMark): OnceAnswer | null {
  if (record.requestDigest !== requestDigest) {
    throw new TerminalError('idempotency_key_mismatch', {
      message: `This Idempotency-Key was used for another ${record.endpoint} request.`,
      hint: 'Use a fresh key for a different request, or send the first request unchanged.',
    });
  }
  if (record.state === 'pending' || record.state === 'retryable-failure') return null;
  const { status, body } = record;
  return { status, headers: JSON.parse(record.headers) as Outcome['headers'], body, replayed: true };
}

const inFlightElsewhere = (cause?: unknown): RetryableError =>
  new RetryableError('idempotency_in_flight', {
    message: 'The same request is being carried out at this moment.',
    hint: 'Send it again, unchanged, in a second.',
    details: { retryAfter: 1 },
    ...(cause === undefined ? {} : { cause }),
  });
