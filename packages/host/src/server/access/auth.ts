/** Who calls and what they may do: scopes, and the keys of the configuration, known only by their hash. */
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
  'packs:read',
  'packs:publish',
  'packs:yank',
  'metrics:read',
  'audit:read',
] as const;

export type Scope = (typeof scopes)[number];

/** A scope of tools: whoever holds it may have those called that need it. `tool:*` is all of them. */
export const toolScope = /^tool:(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** What a key without a list of scopes may not do: read the operator's rows and the host's figures. */
const operatorScopes: ReadonlySet<Scope> = new Set<Scope>(['audit:read', 'metrics:read']);
const ordinaryScopes: readonly Scope[] = scopes.filter((scope) => !operatorScopes.has(scope));

export interface Caller {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly toolScopes: readonly string[];
  /** The rows this caller may see: `client` leaves operator rows out, undefined is all of them. */
  readonly audience: 'client' | undefined;
  /** Names the credential without telling it: what limits and sessions count by. */
  readonly credential: string;
  /** When the credential ends, in ms since the epoch; undefined for one that does not. */
  readonly expiresAt: number | undefined;
}

/** A key as the configuration gives it, after its text was hashed. */
export interface AccessKey {
  /** sha256 of the key, 64 hex digits. */
  readonly sha256: string;
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly toolScopes?: readonly string[] | undefined;
}

export const keyHash = (key: string): string => hash('sha256', key, 'hex');

/** Gives whose key a text is, or null. */
export function createKeyRing(keys: readonly AccessKey[]): (key: string) => Caller | null {
  const ring = keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), caller: keyCaller(key) }));
  return (key) => {
    const digest = hash('sha256', key, 'buffer');
    let caller: Caller | null = null;
    // Every key is compared, so that the time taken does not tell which one came close.
    for (const entry of ring) if (timingSafeEqual(entry.digest, digest)) caller = entry.caller;
    return caller;
  };
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  throw new TerminalError('forbidden', {
    message: `This credential lacks the scope ${scope}.`,
    hint: `Use a key or token that holds ${scope}, or add it to the key's scopes in the configuration.`,
    details: { scopeRequired: scope },
  });
}

/** The rows that go with a set of scopes. */
export const audienceFor = (held: ReadonlySet<Scope>): Caller['audience'] =>
  held.has('audit:read') ? undefined : 'client';

function keyCaller({ sha256, tenant, principal, scopes: listed, toolScopes = [] }: AccessKey): Caller {
  const held = new Set(listed ?? ordinaryScopes);
  return {
    tenant,
    principal,
    scopes: held,
    toolScopes,
    audience: audienceFor(held),
    credential: `key:${sha256.slice(0, 16)}`,
    expiresAt: undefined,
  };
}
