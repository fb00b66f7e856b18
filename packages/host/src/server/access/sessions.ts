/** Sessions of browsers: a random id in a cookie that scripts cannot read, so that an EventSource can show who it is. */
import { hash, randomBytes } from 'node:crypto';
import { audienceFor, type Caller, type Scope } from './auth.ts';

/** A session ends after this, and no later than the credential that opened it. */
export const SESSION_LIFE_MS = 3_600_000;

/** Beyond these, the oldest session ends: of the credential, then of all. */
const MAX_PER_CREDENTIAL = 64;
const MAX_SESSIONS = 10_000;

/** What a session may do, of what its credential may: read what pages show. */
export const sessionScopes: readonly Scope[] = ['manifest:read', 'runs:read', 'audit:read'];

export interface SessionPorts {
  /** Whether browsers reach the host by https: its cookie then never travels without. */
  readonly secure: boolean;
  readonly now: () => number;
}

interface Session {
  readonly caller: Caller;
  readonly expiresAt: number;
}

export class Sessions {
  /** By the hash of the id, oldest first: what is in memory does not open anything. */
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

  /** Opens a session for a caller; gives the cookie that names it. */
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

  /** Ends the session, if there is one; gives the cookie that makes the browser forget it. */
  end(sessionId: string | null): string {
    if (sessionId !== null) this.#end(digestOf(sessionId));
    return this.#cookie('', 0);
  }

  /** The session id in a Cookie header, or null. Only under the name that is given out: others can be planted more easily. */
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
    // The prefix makes browsers refuse the cookie from anybody but this very host, over https.
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
