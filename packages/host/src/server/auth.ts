/** Who calls, and what they may do: bearer keys, known only by their hash, each bound to a tenant. */
import { hash, timingSafeEqual } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';

/** The scopes a key can hold. */
export const scopes = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'approvals:respond',
  'webhooks:manage',
  'metrics:read',
  'audit:read',
] as const;

export type Scope = (typeof scopes)[number];

/** What a key without a list of scopes may not do: read the operator's rows and the host's figures. */
const operatorScopes: ReadonlySet<Scope> = new Set<Scope>(['audit:read', 'metrics:read']);
const ordinaryScopes: readonly Scope[] = scopes.filter((scope) => !operatorScopes.has(scope));

export interface Caller {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  /** The rows this caller may see: `client` leaves operator rows out, undefined is all of them. */
  readonly audience: 'client' | undefined;
}

/** A key as the configuration gives it, after its text was hashed. */
export interface AccessKey {
  /** sha256 of the key, 64 hex digits. */
  readonly sha256: string;
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
}

/** Gives the caller of an `Authorization` header, or throws `unauthenticated`. */
export type Authenticate = (authorization: string | undefined) => Caller;

export const keyHash = (key: string): string => hash('sha256', key, 'hex');

export function createAuthenticate(keys: readonly AccessKey[]): Authenticate {
  const ring = keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), caller: callerOf(key) }));
  return (authorization) => {
    const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw unauthenticated('The request has no bearer key.', 'Send the header "Authorization: Bearer <key>".');
    }
    const digest = hash('sha256', token, 'buffer');
    let caller: Caller | null = null;
    // Every key is compared, so that the time taken does not tell which one came close.
    for (const entry of ring) if (timingSafeEqual(entry.digest, digest)) caller = entry.caller;
    if (caller === null)
      throw unauthenticated('The bearer key is not known here.', 'Check the key, or ask for a new one.');
    return caller;
  };
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw new TerminalError('forbidden', {
    message: `This key lacks the scope ${scope}.`,
    hint: `Use a key that holds ${scope}, or add it to the key's scopes in the configuration.`,
    details: { scopeRequired: scope },
  });
}

function callerOf(key: AccessKey): Caller {
  const held = new Set(key.scopes ?? ordinaryScopes);
  return {
    tenant: key.tenant,
    principal: key.principal,
    scopes: held,
    audience: held.has('audit:read') ? undefined : 'client',
  };
}

const unauthenticated = (message: string, hint: string): TerminalError =>
  new TerminalError('unauthenticated', { message, hint });
