/** Browser sessions: a random id in an HttpOnly cookie, so that an EventSource can authenticate. */
import { hash, randomBytes } from 'node:crypto';
import { audienceFor, type Caller, type Scope } from './auth.ts';

/** A session expires after this time, or earlier with the credential that opened it. */
export const SESSION_LIFE_MS = 3_600_000;

/** Above these limits the oldest session ends: first per credential, then overall. */
const MAX_PER_CREDENTIAL = 64;
const MAX_SESSIONS = 10_000;

/** A session keeps only these scopes of its credential: those that pages need to read. */
export const sessionScopes: readonly Scope[] = ['manifest:read', 'runs:read', 'audit:read'];

export interface SessionPorts {
  /** Whether browsers reach the host by https; the cookie is then `Secure`. */
  readonly secure: boolean;
  readonly now: () => number;
}

interface Session {
  readonly caller: Caller;
  readonly expiresAt: number;
}

export class Sessions {
  /** Keyed by the hash of the id, oldest first, so that a memory dump reveals no usable id. */
  readonly #sessions = new Map<string, Session>();
  readonly #byCredential = new Map<string, Set<string>>();
  readonly #secure: boolean;
  readonly #now: () => number;

  constructor({ secure, now }: SessionPorts) {
    this.#secure = secure;
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Opens a session for a caller; returns its cookie. */
  open(caller: Caller): { readonly cookie: string; readonly expiresAt: number } {
    const now = this.#now();
    this.#makeRoom(caller.credential, now);
    const sessionId = randomBytes(32).toString('base64url');
    const digest = digestOf(sessionId);
    const expiresAt = Math.min(now + SESSION_LIFE_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
    this.#sessions.set(digest, { caller: reading(caller, expiresAt), expiresAt });
    const own = this.#byCredential.get(caller.credential);
    if (own === undefined) this.#byCredential.set(caller.credential, new Set([digest]));
    else own.add(digest);
    const seconds = Math.max(0, Math.floor((expiresAt - now) / 1000));
    return { cookie: this.#cookie(sessionId, seconds), expiresAt };
  }

  find(sessionId: string): Caller | null {
    const digest = digestOf(sessionId);
    const session = this.#sessions.get(digest);
    if (session === undefined) return null;
    if (session.expiresAt > this.#now()) return session.caller;
    this.#end(digest);
    return null;
  }

  /** Ends the session, if it exists; returns the cookie that clears it in the browser. */
  end(sessionId: string | null): string {
    if (sessionId !== null) this.#end(digestOf(sessionId));
    return this.#cookie('', 0);
  }

  /** The session id in a Cookie header, or null. Accepts only the current cookie name: others are easier to plant. */
  idIn(header: string): string | null {
    return (this.#secure ? SECURE_COOKIE : PLAIN_COOKIE).exec(header)?.[1] ?? null;
  }

  #makeRoom(credential: string, now: number): void {
    const own = this.#byCredential.get(credential);
    if (own !== undefined && own.size >= MAX_PER_CREDENTIAL) this.#end(first(own));
    if (this.#sessions.size < MAX_SESSIONS) return;
    for (const [digest, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#end(digest);
    if (this.#sessions.size >= MAX_SESSIONS) this.#end(first(this.#sessions.keys()));
  }

  #end(digest: string | undefined): void {
    const session = digest === undefined ? undefined : this.#sessions.get(digest);
    if (digest === undefined || session === undefined) return;
    this.#sessions.delete(digest);
    const { credential } = session.caller;
    const own = this.#byCredential.get(credential);
    if (own?.delete(digest) && own.size === 0) this.#byCredential.delete(credential);
  }

  #cookie(value: string, maxAge: number): string {
    // With the `__Host-` prefix, browsers accept the cookie only from this exact host over https.
    const name = this.#secure ? SECURE_NAME : PLAIN_NAME;
    const attributes = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${this.#secure ? '; Secure' : ''}`;
    return `${name}=${value}; ${attributes}`;
  }
}

const PLAIN_NAME = 'cairn_session';
const SECURE_NAME = '__Host-cairn_session';

const cookieNamed = (name: string): RegExp => new RegExp(`(?:^|;)\\s*${name}=([\\w-]{43})(?:\\s*;|\\s*$)`);
const PLAIN_COOKIE = cookieNamed(PLAIN_NAME);
const SECURE_COOKIE = cookieNamed(SECURE_NAME);

function reading(caller: Caller, expiresAt: number): Caller {
  const held = new Set(sessionScopes.filter((scope) => caller.scopes.has(scope)));
  return { ...caller, scopes: held, audience: audienceFor(held), expiresAt };
}

const digestOf = (sessionId: string): string => hash('sha256', sessionId, 'base64url');

const first = (digests: Iterable<string>): string | undefined => {
  for (const digest of digests) return digest;
  return undefined;
};
