/**
 * Browser sessions: a signed cookie, so that an EventSource can authenticate. The cookie holds the session; the host
 * keeps only which sessions count and which were ended, so that sessions survive a restart.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Keys } from '../secrets/host-secret.ts';
import { audienceFor, type Caller, type Scope, scopes } from './auth.ts';
import type { Ended } from './ended-sessions.ts';
import { SessionCaps } from './session-caps.ts';

/** A session expires after this time, or earlier with the credential that opened it. */
export const SESSION_LIFE_MS = 3_600_000;

/** A session keeps only these scopes of its credential: those that pages need to read. */
export const sessionScopes: readonly Scope[] = ['manifest:read', 'runs:read', 'audit:read'];

export interface SessionPorts {
  /** Whether browsers reach the host by https; the cookie is then `Secure`. */
  readonly secure: boolean;
  readonly now: () => number;
  /** The first key signs; all keys verify. */
  readonly keys: Keys;
  readonly ended: Ended;
  /** The scopes that a credential of this tenant has now; null if it is gone. A session ends with its key. */
  readonly scopesOf: (tenant: string, credential: string) => ReadonlySet<Scope> | null;
}

const sessionShape = z.object({
  id: z.string(),
  tenant: z.string(),
  principal: z.string().optional(),
  scopes: z.array(z.enum(scopes)),
  credential: z.string(),
  openedAt: z.number(),
  expiresAt: z.number(),
});

type Session = z.infer<typeof sessionShape>;

export class Sessions {
  readonly #ports: SessionPorts;
  readonly #caps: SessionCaps;
  #lastOpenedAt = 0;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    this.#caps = new SessionCaps({ now: ports.now, lifeMs: SESSION_LIFE_MS });
  }

  /** Opens a session for a caller; returns its cookie. */
  open(caller: Caller): { readonly cookie: string; readonly expiresAt: number } {
    const now = this.#ports.now();
    // Distinct, so that the order of sessions is known when the oldest has to end.
    const openedAt = Math.max(now, this.#lastOpenedAt + 0.001);
    this.#lastOpenedAt = openedAt;
    const { tenant, principal, credential } = caller;
    const expiresAt = Math.min(now + SESSION_LIFE_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    const held = sessionScopes.filter((scope) => caller.scopes.has(scope));
    const id = randomBytes(16).toString('base64url');
    const session: Session = { id, tenant, principal, scopes: held, credential, openedAt, expiresAt };
    this.#caps.admit(session);
    const payload = Buffer.from(JSON.stringify(session)).toString('base64url');
    const seconds = Math.max(0, Math.floor((expiresAt - now) / 1000));
    return { cookie: this.#cookie(`${payload}.${this.#mac(payload)[0]}`, seconds), expiresAt };
  }

  /** The caller of a session: null for a forged cookie, `over` for a session that has ended. */
  find(text: string): Caller | 'over' | null {
    const session = this.#signed(text);
    if (session === null) return null;
    const { now, ended, scopesOf } = this.#ports;
    const { id, tenant, principal, credential, expiresAt } = session;
    const current = scopesOf(tenant, credential);
    if (current === null || expiresAt <= now() || ended.has(session) || !this.#caps.admit(session)) return 'over';
    const held = new Set(session.scopes.filter((scope) => current.has(scope)));
    const audience = audienceFor(held);
    return { tenant, principal, scopes: held, toolScopes: [], audience, credential, expiresAt, endableId: id };
  }

  /** Ends the session, if it exists, also for later starts; returns the cookie that clears it in the browser. */
  async end(text: string | null): Promise<string> {
    const session = text === null ? null : this.#signed(text);
    if (session !== null) await this.#ports.ended.add(session, session.expiresAt);
    return this.#cookie('', 0);
  }

  /** The session in a Cookie header, or null. Accepts only the current cookie name: others are easier to plant. */
  idIn(header: string): string | null {
    return (this.#ports.secure ? SECURE_COOKIE : PLAIN_COOKIE).exec(header)?.[1] ?? null;
  }

  #signed(text: string): Session | null {
    const [payload = '', mac = ''] = text.split('.');
    const given = Buffer.from(mac);
    let isSigned = false;
    // Tries every key, also after one fits, so that the time says nothing about the keys.
    for (const expected of this.#mac(payload)) {
      const bytes = Buffer.from(expected);
      if (bytes.length === given.length && timingSafeEqual(bytes, given)) isSigned = true;
    }
    return isSigned ? sessionShape.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())) : null;
  }

  #mac(payload: string): readonly string[] {
    return this.#ports.keys.map((key) => createHmac('sha256', key).update(payload).digest('base64url'));
  }

  #cookie(value: string, maxAge: number): string {
    const { secure } = this.#ports;
    // With the `__Host-` prefix, browsers accept the cookie only from this exact host over https.
    const name = secure ? SECURE_NAME : PLAIN_NAME;
    const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
    return `${name}=${value}; ${attributes}`;
  }
}

const PLAIN_NAME = 'cairn_session';
const SECURE_NAME = '__Host-cairn_session';

const cookieNamed = (name: string): RegExp =>
  new RegExp(`(?:^|;)\\s*${name}=([\\w-]{1,2048}\\.[\\w-]{43})(?:\\s*;|\\s*$)`);
const PLAIN_COOKIE = cookieNamed(PLAIN_NAME);
const SECURE_COOKIE = cookieNamed(SECURE_NAME);
