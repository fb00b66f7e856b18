/** Callers and their permissions: scopes, and the access keys of the configuration, stored only as hashes. */
import { hash, timingSafeEqual } from 'node:crypto';
import { TerminalError } from '@cairn/protocol';
import type { Report } from '../../engine/ports.ts';
import { keyBits, MIN_KEY_BITS } from './key-strength.ts';

/** The scopes a key can hold. */
export const scopes = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'runs:delete',
  'artifacts:read',
  'approvals:respond',
  'webhooks:manage',
  'packs:read',
  'packs:publish',
  'packs:yank',
  'metrics:read',
  'audit:read',
] as const;

export type Scope = (typeof scopes)[number];

/** A tool scope lets the caller's runs call the tools that require it. `tool:*` grants all tools. */
export const toolScope = /^tool:(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** Scopes that a key without an explicit list does not get: operator rows, host metrics, and what cannot be undone. */
const operatorScopes: ReadonlySet<Scope> = new Set<Scope>(['audit:read', 'metrics:read', 'runs:delete']);
const ordinaryScopes: readonly Scope[] = scopes.filter((scope) => !operatorScopes.has(scope));

/** The only run, or the only context, whose streams a read token may read. */
export interface Grant {
  readonly runId?: string | undefined;
  readonly contextId?: string | undefined;
}

export interface Caller {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly toolScopes: readonly string[];
  /** The host that calls with this credential; undefined for people and programs. */
  readonly peer?: string | undefined;
  /** The operator trusts this host to ask its users before it answers for them. */
  readonly answersForUsers?: boolean | undefined;
  /** The rows this caller may see: `client` excludes operator rows, undefined includes all. */
  readonly audience: 'client' | undefined;
  /** Identifies the credential without revealing it. Limits and sessions use it as their key. */
  readonly credential: string;
  /** When the credential expires, in ms since the epoch; undefined if it does not expire. */
  readonly expiresAt: number | undefined;
  /** Set for a session or a read token, which can be ended before its time: its id. */
  readonly endableId?: string | undefined;
  /** Set for a read token. */
  readonly grant?: Grant | undefined;
}

/** An access key of the configuration, after hashing. */
export interface AccessKey {
  /** sha256 of the key, 64 hex digits. */
  readonly sha256: string;
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly toolScopes?: readonly string[] | undefined;
  readonly peer?: string | undefined;
  readonly answersForUsers?: boolean | undefined;
  /** The configuration has only the hash, so the strength of the key is unknown until a request has it. */
  readonly isOnlyHash?: boolean | undefined;
}

export interface KeyRingPorts {
  /** Whether others can reach the host. It then accepts no weak key. */
  readonly isReachable: boolean;
  readonly report: Report;
}

export const keyHash = (key: string): string => hash('sha256', key, 'hex');

interface RingEntry {
  /** The hex digits of the hash. */
  readonly digest: Buffer;
  readonly caller: Caller;
  readonly place: string;
  /** Undefined until the key is known. */
  isWeak: boolean | undefined;
}

/** Returns the caller that owns a key, or null. */
export function createKeyRing(keys: readonly AccessKey[], ports: KeyRingPorts): (key: string) => Caller | null {
  const ring = keys.map(
    (key, i): RingEntry => ({
      digest: Buffer.from(key.sha256),
      caller: keyCaller(key),
      place: `keys[${i}]`,
      isWeak: key.isOnlyHash ? undefined : false,
    }),
  );
  return (key) => {
    // As hex digits: to make them takes a quarter of the time of a Buffer.
    const digest = Buffer.from(keyHash(key));
    let found: RingEntry | null = null;
    // Compares every key, so that the timing does not reveal which key matched.
    for (const entry of ring) if (timingSafeEqual(entry.digest, digest)) found = entry;
    if (found === null) return null;
    found.isWeak ??= reportedWeak(key, found.place, ports);
    return found.isWeak && ports.isReachable ? null : found.caller;
  };
}

/** Whether a key is weak. Reports it if so; called once for each key that is configured by its hash. */
function reportedWeak(key: string, place: string, { report, isReachable }: KeyRingPorts): boolean {
  const bits = keyBits(key);
  if (bits >= MIN_KEY_BITS) return false;
  report({ level: 'warn', event: 'config.weak_secret', facts: { place, bits, refused: isReachable } });
  return true;
}

export function requireScope(caller: Caller, scope: Scope, another: Scope = scope): void {
  if (caller.scopes.has(scope)) {
    if (another !== scope) requireScope(caller, another);
    return;
  }
  throw new TerminalError('forbidden', {
    message: `This credential lacks the scope ${scope}.`,
    hint: `Use a key or token that holds ${scope}, or add it to the key's scopes in the configuration.`,
    details: { scopeRequired: scope },
  });
}

/** The host that answers and is no user; undefined for users, and for a host that answers for its own. */
export const answeringPeer = ({ peer, answersForUsers = false }: Caller): string | undefined =>
  answersForUsers ? undefined : peer;

/** The audience that a set of scopes grants. */
export const audienceFor = (held: ReadonlySet<Scope>): Caller['audience'] =>
  held.has('audit:read') ? undefined : 'client';

const credentialOf = (sha256: string): string => `key:${sha256.slice(0, 16)}`;

const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** Returns the scopes that a credential of a tenant has now; null if the configuration does not have it any more. */
export function currentScopes(keys: readonly AccessKey[], hasTokens: boolean) {
  const callers = new Map(keys.map((key) => [credentialOf(key.sha256), keyCaller(key)]));
  return (tenant: string, credential: string): ReadonlySet<Scope> | null => {
    if (!credential.startsWith('key:')) return hasTokens ? allScopes : null;
    const caller = callers.get(credential);
    return caller?.tenant === tenant ? caller.scopes : null;
  };
}

/** Returns the tool scopes that a key has now; null for a token, whose session knows them. */
export function currentToolScopes(keys: readonly AccessKey[]): (credential: string) => readonly string[] | null {
  const held = new Map(keys.map(({ sha256, toolScopes = [] }) => [credentialOf(sha256), toolScopes]));
  return (credential) => held.get(credential) ?? null;
}

function keyCaller({ sha256, scopes: listed, toolScopes = [], ...key }: AccessKey): Caller {
  const { tenant, principal, peer, answersForUsers } = key;
  const held = new Set(listed ?? ordinaryScopes);
  return {
    tenant,
    principal,
    scopes: held,
    toolScopes,
    peer,
    answersForUsers,
    audience: audienceFor(held),
    credential: credentialOf(sha256),
    expiresAt: undefined,
  };
}
