/**
 * Browser sessions: a signed cookie, so that a page can authenticate. The cookie holds the session; the host keeps only
 * which sessions count and which were ended, so that sessions survive a restart. Alone, the cookie reads. With the token
 * of its session, which only pages of this host can read, it may do what its credential may.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Keys } from '../secrets/host-secret.ts';
import { audienceFor, type Caller, type Scope, scopes } from './auth.ts';
import type { Ended } from './ended-sessions.ts';
import { type CappedSession, SessionCaps } from './session-caps.ts';

/** A session expires after this time unless it is renewed, or earlier with the credential that opened it. */
export const SESSION_LIFE_MS = 3_600_000;

/** No renewal goes beyond this time since the session was opened. */
export const SESSION_MAX_MS = 12 * 3_600_000;

/** The cookie alone grants only these scopes of its credential: those that pages need to read. */
export const sessionScopes: readonly Scope[] = ['manifest:read', 'runs:read', 'artifacts:read', 'audit:read'];

export interface SessionPorts {
  /** Whether browsers reach the host by https; the cookie is then `Secure`. */
  readonly secure: boolean;
  readonly now: () => number;
  /** The first key signs; all keys verify. */
  readonly keys: Keys;
  readonly ended: Ended;
  /** The scopes that a credential of this tenant has now; null if it is gone. A session ends with its key. */
  readonly scopesOf: (tenant: string, credential: string) => ReadonlySet<Scope> | null;
  /** The tool scopes that it has now; null if the session knows best. */
  readonly toolScopesOf?: (credential: string) => readonly string[] | null;
  /** Tells the other nodes, so that the caps hold for all of them. */
  readonly opened?: (session: CappedSession) => void;
}

export interface OpenedSession {
  readonly cookie: string;
  readonly expiresAt: number;
  readonly renewableUntil: number;
  /** Proves that a change comes from a page that could read it, as pages of other sites cannot. */
  readonly token: string;
}

const sessionShape = z.object({
  id: z.string(),
  tenant: z.string(),
  principal: z.string().optional(),
  peer: z.string().optional(),
  scopes: z.array(z.enum(scopes)),
  toolScopes: z.array(z.string()).optional(),
  credential: z.string(),
  openedAt: z.number(),
  expiresAt: z.number(),
  /** Absent in a session of an earlier version, which cannot be renewed. */
  until: z.number().optional(),
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

  /** Opens a session for a caller. */
  open(caller: Caller): OpenedSession {
    const now = this.#ports.now();
    const { tenant, principal, peer, credential, toolScopes } = caller;
    const until = Math.min(now + SESSION_MAX_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    const id = randomBytes(16).toString('base64url');
    const held = [...caller.scopes];
    // Tool scopes of a token may be many. A session without them starts runs that call no tool with a scope.
    const tools = JSON.stringify(toolScopes).length > MAX_TOOL_SCOPES_LENGTH ? [] : [...toolScopes];
    return this.#begin({ id, tenant, principal, peer, scopes: held, toolScopes: tools, credential, until });
  }

  /** Gives a session that is not over its full life again, within its maximum. Null if there is none. */
  async renew(text: string): Promise<OpenedSession | null> {
    const session = this.#signed(text);
    if (session === null || (await this.find(text)) === 'over') return null;
    return this.#begin({ ...session, until: session.until ?? session.expiresAt });
  }

  #begin(given: Omit<Session, 'openedAt' | 'expiresAt'> & { readonly until: number }): OpenedSession {
    const now = this.#ports.now();
    // Distinct, so that the order of sessions is known when the oldest has to end.
    // The fraction tells sessions of two nodes apart.
    const openedAt = Math.max(now, this.#lastOpenedAt + 0.001) + Math.random() / 1_000;
    this.#lastOpenedAt = openedAt;
    const expiresAt = Math.min(now + SESSION_LIFE_MS, given.until);
    const session: Session = { ...given, openedAt, expiresAt };
    this.#caps.admit(session);
    const { tenant, principal, credential } = session;
    this.#ports.opened?.({ tenant, principal, credential, openedAt });
    const payload = Buffer.from(JSON.stringify(session)).toString('base64url');
    const seconds = Math.max(0, Math.floor((expiresAt - now) / 1000));
    const cookie = this.#cookie(`${payload}.${this.#mac(payload)[0]}`, seconds);
    return { cookie, expiresAt, renewableUntil: given.until, token: this.#tokensOf(session.id)[0] ?? '' };
  }

  /** Counts a session that another node opened. */
  learn(session: CappedSession): void {
    this.#caps.admit(session);
  }

  /**
   * The caller of a session: null for a forged cookie or a wrong token, `over` for a session that has ended. With its
   * token it has the scopes of its credential, without one those that read.
   */
  async find(text: string, token?: string): Promise<Caller | 'over' | null> {
    const session = this.#signed(text);
    if (session === null || (token !== undefined && !isOneOf(token, this.#tokensOf(session.id)))) return null;
    const { now, ended, scopesOf, toolScopesOf } = this.#ports;
    const { id, tenant, principal, peer, credential, expiresAt } = session;
    const current = scopesOf(tenant, credential);
    if (current === null || expiresAt <= now() || (await ended.has(session)) || !this.#caps.admit(session))
      return 'over';
    const granted = (scope: Scope) => current.has(scope) && (token !== undefined || sessionScopes.includes(scope));
    const held = new Set(session.scopes.filter(granted));
    const toolScopes = token === undefined ? [] : (toolScopesOf?.(credential) ?? session.toolScopes ?? []);
    return {
      tenant,
      principal,
      peer,
      scopes: held,
      toolScopes,
      audience: audienceFor(held),
      credential,
      expiresAt,
      endableId: id,
    };
  }

  /** What a page of the host may know of its own session; null if it has none. */
  async describe(
    text: string,
  ): Promise<(Pick<OpenedSession, 'token' | 'renewableUntil'> & { readonly scopes: readonly Scope[] }) | null> {
    const session = this.#signed(text);
    const [token] = session === null ? [] : this.#tokensOf(session.id);
    const caller = token === undefined ? null : await this.find(text, token);
    if (session === null || token === undefined || caller === null || caller === 'over') return null;
    return { token, renewableUntil: session.until ?? session.expiresAt, scopes: [...caller.scopes] };
  }

  /** Ends the session, if it exists, also for later starts; returns the cookie that clears it in the browser. */
  async end(text: string | null): Promise<string> {
    const session = text === null ? null : this.#signed(text);
    if (session !== null) await this.#ports.ended.add(session, session.until ?? session.expiresAt);
    return this.#cookie('', 0);
  }

  /** The session in a Cookie header, or null. Accepts only the current cookie name: others are easier to plant. */
  idIn(header: string): string | null {
    return (this.#ports.secure ? SECURE_COOKIE : PLAIN_COOKIE).exec(header)?.[1] ?? null;
  }

  #signed(text: string): Session | null {
    const [payload = '', mac = ''] = text.split('.');
    if (!isOneOf(mac, this.#mac(payload))) return null;
    return sessionShape.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  }

  /** The same for all renewals of a session, so that a page in another tab goes on. No payload begins like this. */
  #tokensOf(id: string): readonly string[] {
    return this.#mac(`change ${id}`);
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

/** Tries every key, also after one fits, so that the time says nothing about the keys. */
function isOneOf(given: string, expected: readonly string[]): boolean {
  const bytes = Buffer.from(given);
  let found = false;
  for (const one of expected) {
    const other = Buffer.from(one);
    if (other.length === bytes.length && timingSafeEqual(other, bytes)) found = true;
  }
  return found;
}

/** Characters of tool scopes in a cookie, which browsers keep up to 4,096 bytes. */
const MAX_TOOL_SCOPES_LENGTH = 500;

const PLAIN_NAME = 'cairn_session';
const SECURE_NAME = '__Host-cairn_session';

const cookieNamed = (name: string): RegExp =>
  new RegExp(`(?:^|;)\\s*${name}=([\\w-]{1,3072}\\.[\\w-]{43})(?:\\s*;|\\s*$)`);
const PLAIN_COOKIE = cookieNamed(PLAIN_NAME);
const SECURE_COOKIE = cookieNamed(SECURE_NAME);
