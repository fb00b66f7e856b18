/** Credentials of users at rest: encrypted with a key derived from the host's, bound to their reference. */
import { hash } from 'node:crypto';
import { isoTime } from '@cairn/protocol';
import { z } from 'zod';
import type { CredentialOwner, SignInRecord } from '../../agents/tools/sign-in.ts';
import type { CredentialRecord, Credentials } from '../../log/ports/credentials.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';

const secretShape = z.object({
  /** An access token, an API key, a password. */
  value: z.string(),
  refreshToken: z.string().optional(),
});

export type CredentialSecret = z.infer<typeof secretShape>;

export interface NewCredential {
  readonly secret: CredentialSecret;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
}

export interface StoredCredential extends NewCredential {
  readonly ref: string;
}

export interface VaultPorts {
  readonly credentials: Credentials;
  readonly keys: Keys;
  readonly now: () => number;
}

/** The same for a user and a service, whatever the credential: it names the place, not the value. */
const refOf = ({ tenant, principal, provider }: CredentialOwner): string =>
  `cred_${hash('sha256', JSON.stringify([tenant, principal ?? '', provider]), 'base64url').slice(0, 22)}`;

export class CredentialVault {
  readonly #ports: VaultPorts;

  constructor(ports: VaultPorts) {
    this.#ports = ports;
  }

  /** Replaces the credential that the user had for this service. */
  async put(owner: CredentialOwner, { secret, scopes, expiresAt }: NewCredential): Promise<StoredCredential> {
    const { credentials, keys, now } = this.#ports;
    const ref = refOf(owner);
    const sealed = sealerOf(keys, ref).seal(JSON.stringify(secret));
    const { tenant, provider } = owner;
    const principal = owner.principal ?? '';
    await credentials.put({ ref, tenant, principal, provider, scopes, sealed, expiresAt, storedAt: now() });
    return { ref, secret, scopes, expiresAt };
  }

  /** Null when there is none. Throws `internal_error` when it was sealed with a key that this host does not have. */
  async get(owner: CredentialOwner): Promise<StoredCredential | null> {
    const { credentials, keys } = this.#ports;
    const record = await credentials.get(refOf(owner));
    if (record === null) return null;
    const { ref, sealed, scopes, expiresAt } = record;
    return { ref, secret: secretShape.parse(JSON.parse(sealerOf(keys, ref).open(sealed))), scopes, expiresAt };
  }

  /** Without the values. */
  list(tenant: string, principal: string | null): Promise<readonly Omit<CredentialRecord, 'sealed'>[]> {
    return this.#ports.credentials.list(tenant, principal ?? '');
  }

  drop(tenant: string, principal: string | null, ref: string): Promise<boolean> {
    return this.#ports.credentials.drop({ tenant, principal: principal ?? '', ref });
  }

  async forget(owner: CredentialOwner): Promise<void> {
    await this.drop(owner.tenant, owner.principal, refOf(owner));
  }
}

/** What the log says of a credential. */
export const recordOf = (provider: string, { ref, scopes, expiresAt }: StoredCredential): SignInRecord => ({
  provider,
  credentialRef: ref,
  scopes: [...scopes],
  ...(expiresAt === null ? {} : { expiresAt: isoTime(expiresAt) }),
});
