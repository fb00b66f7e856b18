/**
 * Read-only tokens for one run or one context, signed by the host. They are short-lived and can be revoked, because they
 * are sent in a URL: an `EventSource` cannot send a header.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { RetryableError, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Keys } from '../secrets/host-secret.ts';
import type { Caller, Grant, Scope } from './auth.ts';
import { type Endable, type Ended, TOKEN_PREFIX } from './ended-sessions.ts';

const DEFAULT_LIFE_MS = 3_600_000;
/** Longest life of a token, and how long a revocation is kept. */
const MAX_READ_TOKEN_MS = 86_400_000;
/** Revocations of a tenant that are kept at a time, so that one tenant cannot displace those of others. */
const MAX_REVOKED_PER_TENANT = 1_000;

const tokenShape = z.object({
  id: z.string(),
  tenant: z.string(),
  principal: z.string().optional(),
  credential: z.string(),
  runId: z.string().optional(),
  contextId: z.string().optional(),
  expiresAt: z.number(),
});

type Signed = z.infer<typeof tokenShape>;

export interface ReadTokenPorts {
  readonly now: () => number;
  /** The first key signs; all keys verify. */
  readonly keys: Keys;
  readonly revoked: Ended;
  /** The scopes that a credential of this tenant has now; null if it is gone. A token ends with its key. */
  readonly scopesOf: (tenant: string, credential: string) => ReadonlySet<Scope> | null;
}

export interface MintedReadToken {
  readonly token: string;
  readonly tokenId: string;
  readonly expiresAt: number;
}

const READ: ReadonlySet<Scope> = new Set<Scope>(['runs:read']);

export class ReadTokens {
  readonly #ports: ReadTokenPorts;

  constructor(ports: ReadTokenPorts) {
    this.#ports = ports;
  }

  /** Expires after `lifeMs`, and no later than the caller's own credential. */
  mint(caller: Caller, grant: Grant, lifeMs: number = DEFAULT_LIFE_MS): MintedReadToken {
    const { tenant, principal, credential } = caller;
    const end = Math.min(this.#ports.now() + lifeMs, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    const id = randomBytes(16).toString('base64url');
    const signed: Signed = { id, tenant, principal, credential, expiresAt: end, ...grant };
    const payload = Buffer.from(JSON.stringify(signed)).toString('base64url');
    return { token: `${payload}.${this.#macs(payload)[0]}`, tokenId: id, expiresAt: end };
  }

  /** The caller of a token, who may read what the token grants. Throws `unauthenticated` or `key_expired`. */
  async caller(text: string): Promise<Caller> {
    const token = this.#signed(text);
    if (token === null) throw notOurs();
    const { tenant, principal, credential, expiresAt, runId, contextId } = token;
    const { now, revoked, scopesOf } = this.#ports;
    const mayRead = scopesOf(tenant, credential)?.has('runs:read') === true;
    if (!mayRead || expiresAt <= now() || (await revoked.has(revocationOf(tenant, token.id)))) throw over();
    const grant: Grant = { runId, contextId };
    return {
      tenant,
      principal,
      scopes: READ,
      toolScopes: [],
      audience: 'client',
      credential,
      expiresAt,
      endableId: revocationOf(tenant, token.id).id,
      grant,
    };
  }

  /** Resolves once the revocation is stored. An unknown id is no error, as for a token that has expired. */
  async revoke(tenant: string, tokenId: string): Promise<void> {
    const { revoked, now } = this.#ports;
    if (!TOKEN_ID.test(tokenId)) return;
    const token = revocationOf(tenant, tokenId);
    if (!(await revoked.has(token)) && (await revoked.count('revoked-token', tenant)) >= MAX_REVOKED_PER_TENANT) {
      throw tooMany();
    }
    await revoked.add(token, now() + MAX_READ_TOKEN_MS);
  }

  #signed(text: string): Signed | null {
    const [payload = '', mac = '', ...rest] = text.split('.');
    const given = Buffer.from(mac);
    let isSigned = false;
    // Tries every key, also after one fits, so that the time says nothing about the keys.
    for (const expected of this.#macs(payload)) {
      const bytes = Buffer.from(expected);
      if (bytes.length === given.length && timingSafeEqual(bytes, given)) isSigned = true;
    }
    if (!isSigned || rest.length > 0) return null;
    return tokenShape.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  }

  #macs(payload: string): readonly string[] {
    return this.#ports.keys.map((key) => createHmac('sha256', key).update(payload).digest('base64url'));
  }
}

/** 16 bytes in base64url. */
const TOKEN_ID = /^[\w-]{22}$/;

const revocationOf = (tenant: string, tokenId: string): Endable => ({ tenant, id: `${TOKEN_PREFIX}${tokenId}` });

const MINT = 'Ask for a new one: POST /v1/runs/{runId}/tokens.';

const notOurs = (): TerminalError =>
  new TerminalError('unauthenticated', { message: 'The token is not one of this host.', hint: MINT });

const over = (): TerminalError =>
  new TerminalError('key_expired', { message: 'The token has expired or was revoked.', hint: MINT });

const tooMany = (): RetryableError =>
  new RetryableError('rate_limited', {
    message: `This tenant has revoked ${MAX_REVOKED_PER_TENANT} tokens within a day.`,
    hint: 'Mint tokens with a shorter life instead; they end by themselves.',
    details: { scope: 'tenant', limit: `${MAX_REVOKED_PER_TENANT} revoked tokens`, retryAfterMs: 60_000 },
  });
