/** Idempotency keys: the first request under a key is carried out, every later one gets its recorded response. */
import { hash } from 'node:crypto';
import {
  type CairnError,
  invariant,
  isCairnError,
  RetryableError,
  statusOfCode,
  TerminalError,
  toEnvelope,
} from '@cairn/protocol';
import canonicalize from 'canonicalize';
import type { Redactor, Report, Timers, UniqueId } from '../../engine/ports.ts';
import {
  type IdempotencyRecord,
  type IdempotencyRecords,
  type IdempotencyState,
  type RequestKey,
  responseRecord,
} from '../../log/ports/idempotency.ts';
import { PassingMap } from '../../passing-map.ts';
import { helpLink } from '../http/errors.ts';
import { claimOf, HeldClaim } from './held-claim.ts';
import { RecordAllowance } from './record-allowance.ts';

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly tenant: string;
  /** The routed operation, e.g. `POST /v1/runs`. */
  readonly endpoint: string;
  /** As the client sent it; only its hash is stored. */
  readonly key: string;
  /** Must be equal for two requests to be the same: path parameters, query, body. */
  readonly content: unknown;
  /** Its handler records every success in the append that carries the request out. A second append then fails, so that no claim is needed. */
  readonly recordsItself: boolean;
  /** With `recordsItself`: a refused request may be sent again under its key, and is carried out then. Default: false. */
  readonly forgetsRefusals?: boolean | undefined;
  /**
   * With `recordsItself`: its handler does nothing before its append, which a record makes fail. So the record of an
   * earlier request is looked for only when this one fails. Default: false.
   */
  readonly looksLater?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotentResponse extends HttpResponse {
  /** An earlier request was carried out; this is its recorded response. */
  readonly isReplayed: boolean;
}

/** Carries a request out. A handler that records its response does so under this key. */
export type KeyedHandler = (key: RequestKey) => Promise<HttpResponse>;

export interface IdempotencyPorts {
  readonly idempotency: IdempotencyRecords;
  readonly now: () => number;
  readonly timers: Timers;
  readonly uniqueId: UniqueId;
  readonly report: Report;
  /** A response may quote the request: what is recorded of it holds no secret. */
  readonly redactor: Redactor | null;
  /**
   * Keys of the digests of requests, the current one first. Without a key, a digest would confirm a guess at a short
   * value of the request.
   */
  readonly digestKeys: readonly [string, ...string[]];
}

/** The key of a request, and whether a digest is of the same request under an earlier key. */
interface DigestedKey extends RequestKey {
  readonly isEarlierDigest: (digest: string) => boolean;
}

/** Records of earlier versions have digests without a key. */
const NO_KEY = '';

const digestOf = (key: string, text: string): string => hash('sha256', key + text, 'hex');

/** Longest `Idempotency-Key`. */
const MAX_KEY_LENGTH = 255;

/** How long records are kept at least. */
export const IDEMPOTENCY_RETENTION_MS = 86_400_000;

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
  readonly #ports: IdempotencyPorts;
  /** Lets duplicates at this node wait for the response; what makes them safe is the record in the store. */
  readonly #inFlight = new PassingMap<string, Promise<unknown>>();
  readonly #allowance: RecordAllowance;

  constructor(ports: IdempotencyPorts) {
    this.#ports = ports;
    this.#allowance = new RecordAllowance(ports.now);
  }

  /** Calls the handler for the first request under a key, and replays its response to every later one. */
  async carryOut(request: KeyedRequest, handle: KeyedHandler): Promise<IdempotentResponse> {
    const { tenant, endpoint } = request;
    // As JSON, because tenant and key may contain any separator.
    const hashed = hash('sha256', JSON.stringify([tenant, endpoint, request.key]), 'hex');
    let text = canonicalize(request.content) ?? '';
    const [current, ...earlier] = this.#ports.digestKeys;
    const requestDigest = digestOf(current, text);
    const key: DigestedKey = {
      tenant,
      endpoint,
      key: hashed,
      requestDigest,
      owner: null,
      isEarlierDigest: (digest) => [...earlier, NO_KEY].some((digestKey) => digestOf(digestKey, text) === digest),
    };
    try {
      return await this.#alone(key, request, handle);
    } finally {
      // The run that was started may keep the key for as long as it is open: hundreds of texts of 100 kB that nobody reads.
      text = '';
    }
  }

  /** Requests under one key follow each other. */
  async #alone(key: DigestedKey, request: KeyedRequest, handle: KeyedHandler): Promise<IdempotentResponse> {
    const hashed = key.key;
    for (let running = this.#inFlight.get(hashed); running !== undefined; running = this.#inFlight.get(hashed)) {
      await running.catch(() => undefined);
      const replayed = await this.#replayed(key);
      if (replayed !== null) return replayed;
    }
    const attempt = request.recordsItself
      ? this.#unclaimed(key, handle, request)
      : this.#claimed({ ...key, owner: this.#ports.uniqueId() }, handle);
    this.#inFlight.set(hashed, attempt);
    try {
      return await attempt;
    } finally {
      this.#inFlight.delete(hashed);
    }
  }

  /** The recorded response, if there is a final one. */
  async #replayed(key: DigestedKey): Promise<IdempotentResponse | null> {
    const record = await this.#ports.idempotency.get(key);
    return record === null ? null : replayedResponse(record, key);
  }

  /** For a handler that records its successes: only a final refusal is recorded here. */
  async #unclaimed(
    key: DigestedKey,
    handle: KeyedHandler,
    { forgetsRefusals = false, looksLater = false }: KeyedRequest,
  ): Promise<IdempotentResponse> {
    const earlier = looksLater ? null : await this.#replayed(key);
    if (earlier !== null) return earlier;
    try {
      return { ...(await handle(key)), isReplayed: false };
    } catch (error) {
      if (isCairnError(error, 'conflict') && error.retryable) {
        // Another node was first: its record exists, or is about to.
        const theirs = await this.#replayed(key);
        if (theirs !== null) return theirs;
        throw inFlightElsewhere(error);
      }
      const recorded = looksLater ? await this.#replayed(key) : null;
      if (recorded !== null) return recorded;
      // A refusal that is not recorded is decided again.
      const keeps = !forgetsRefusals && this.#allowance.hasRoom(key.tenant);
      if (keeps && isCairnError(error) && stateAfter(error) === 'terminal-failure') {
        await this.#record(key, 'terminal-failure', this.#redacted(refusal(error)));
      }
      throw error;
    }
  }

  /** A handler may also record its response itself; the store then ignores the second record. */
  async #claimed(key: DigestedKey & { readonly owner: string }, handle: KeyedHandler): Promise<IdempotentResponse> {
    const { idempotency, now } = this.#ports;
    const claim = claimOf(key, now());
    const existing = await idempotency.claim(claim);
    if (existing !== null) {
      const replayed = replayedResponse(existing, key);
      if (replayed === null) throw inFlightElsewhere();
      return replayed;
    }
    try {
      this.#allowance.admit(key.tenant);
    } catch (error) {
      await this.#reported(idempotency.drop(claim));
      throw error;
    }
    const held = new HeldClaim(claim, this.#ports);
    try {
      const response = this.#redacted(await handle(key));
      await held.end();
      await this.#record(key, 'completed', response);
      return { ...response, isReplayed: false };
    } catch (error) {
      await held.end();
      const state = isCairnError(error) ? stateAfter(error) : 'retryable-failure';
      if (state === null) await this.#reported(idempotency.drop(claim));
      else await this.#record(key, state, this.#redacted(isCairnError(error) ? refusal(error) : empty));
      throw error;
    }
  }

  #record(key: RequestKey, state: IdempotencyState, { status, headers, body }: HttpResponse): Promise<void> {
    const response = { state, status, headers: JSON.stringify(headers), body, at: this.#ports.now() };
    this.#allowance.charge(key.tenant, { headers, body });
    return this.#reported(this.#ports.idempotency.save(responseRecord(key, response)));
  }

  /** The redactor knows how JSON spells a secret, so a body that it leaves alone holds none; a sealed body shows none. */
  #redacted(response: HttpResponse): HttpResponse {
    const { redactor } = this.#ports;
    if (redactor === null || redactor.text(response.body) === response.body) return response;
    return { ...response, body: JSON.stringify(redactor.value(JSON.parse(response.body))) };
  }

  /** The request was carried out, and its client gets the response, also when the record could not be written. */
  #reported(written: Promise<void>): Promise<void> {
    return written.catch((error: unknown) =>
      this.#ports.report({ level: 'warn', event: 'idempotency.record_failed', error }),
    );
  }
}

const empty: HttpResponse = { status: 0, headers: {}, body: '' };

const refusal = (error: CairnError): HttpResponse => ({
  status: statusOfCode(error.code),
  headers: { link: helpLink(error.code) },
  body: JSON.stringify(toEnvelope(error)),
});

/**
 * What a refusal is recorded as: final, or free to be tried again; null when the client may correct the request under the
 * same key, or when what it names may be there by the time of a repeat.
 */
function stateAfter(error: CairnError): 'terminal-failure' | 'retryable-failure' | null {
  const status = statusOfCode(error.code);
  if (error.retryable || status >= 500 || status === 429) return 'retryable-failure';
  const isOpen = error.code === 'validation_error' || status === 401 || status === 403 || status === 404;
  return isOpen ? null : 'terminal-failure';
}

/** The response of a record; null while there is none, or none that is final. */
function replayedResponse(record: IdempotencyRecord, key: DigestedKey): IdempotentResponse | null {
  const { tenant, requestDigest } = key;
  // The store looks records up by tenant too. A record of another tenant must not be shown even if it errs.
  invariant(record.tenant === tenant, 'idempotency-record-of-tenant', { endpoint: record.endpoint });
  if (record.requestDigest !== requestDigest && !key.isEarlierDigest(record.requestDigest)) {
    throw new TerminalError('idempotency_key_mismatch', {
      message: `This Idempotency-Key was used for another ${record.endpoint} request.`,
      hint: 'Use a fresh key for a different request, or send the first request unchanged.',
    });
  }
  if (record.state === 'pending' || record.state === 'retryable-failure') return null;
  const { status, body } = record;
  return { status, headers: JSON.parse(record.headers) as HttpResponse['headers'], body, isReplayed: true };
}

const inFlightElsewhere = (cause?: unknown): RetryableError =>
  new RetryableError('idempotency_in_flight', {
    message: 'The same request is being carried out at this moment.',
    hint: 'Send it again, unchanged, in a second.',
    details: { retryAfter: 1 },
    ...(cause === undefined ? {} : { cause }),
  });
