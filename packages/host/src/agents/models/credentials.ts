/** ModelCredentials that callers use by reference: their tenants, their provider, and the only place that reveals them. */
import { quoted, TerminalError } from '@cairn/protocol';

export interface Credential {
  /** The only provider that receives it. */
  readonly provider: string;
  /** Tenants whose runs may use it; null for all tenants. */
  readonly tenants: readonly string[] | null;
  readonly key: { reveal(): string };
}

export class ModelCredentials {
  readonly #known: ReadonlyMap<string, Credential>;

  constructor(known: ReadonlyMap<string, Credential>) {
    this.#known = known;
  }

  /** The providers that have at least one credential. */
  get providers(): readonly string[] {
    return [...new Set([...this.#known.values()].map(({ provider }) => provider))];
  }

  /** Throws `credential_forbidden`, with the same message for another tenant's credential as for an unknown one. */
  check(ref: string, tenant: string): Credential {
    const credential = this.#known.get(ref);
    if (credential !== undefined && (credential.tenants === null || credential.tenants.includes(tenant)))
      return credential;
    throw new TerminalError('credential_forbidden', {
      // Not quoted: a value that is no reference may be a key.
      message: 'There is no such credential that this tenant may use.',
      hint: 'Ask the operator for a reference, or leave ai.credentialRef out.',
      details: { parameter: 'configurable["ai.credentialRef"]' },
    });
  }

  /** Returns the key for one call; callers must not store it. */
  reveal(ref: string, tenant: string, provider: string): string {
    const credential = this.check(ref, tenant);
    if (credential.provider === provider) return credential.key.reveal();
    throw new TerminalError('credential_forbidden', {
      message: `The credential ${quoted(ref, 80)} is for ${credential.provider}, and the model is served by ${provider}.`,
      hint: 'Choose a model of its provider with ai.provider and ai.model.',
    });
  }
}
