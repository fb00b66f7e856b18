/** Credentials that callers bring by reference: whose they are, for which provider, and the one place where they are revealed. */
import { quoted, TerminalError } from '@cairn/protocol';

export interface Credential {
  /** The only provider it is sent to. */
  readonly provider: string;
  /** Whose runs may use it; null: those of every tenant. */
  readonly tenants: readonly string[] | null;
  readonly key: { reveal(): string };
}

export class Credentials {
  readonly #known: ReadonlyMap<string, Credential>;

  constructor(known: ReadonlyMap<string, Credential>) {
    this.#known = known;
  }

  /** The providers that somebody's credential is for. */
  get providers(): readonly string[] {
    return [...new Set([...this.#known.values()].map(({ provider }) => provider))];
  }

  /** Throws `credential_forbidden`; another tenant's credential and one that does not exist are refused in the same words. */
  check(ref: string, tenant: string): Credential {
    const credential = this.#known.get(ref);
    if (credential !== undefined && (credential.tenants === null || credential.tenants.includes(tenant)))
      return credential;
    throw new TerminalError('credential_forbidden', {
      message: `There is no credential ${quoted(ref, 80)} that this tenant may use.`,
      hint: 'Ask the operator for a reference, or leave ai.credentialRef out.',
      details: { parameter: 'configurable["ai.credentialRef"]' },
    });
  }

  /** For the one call; keep it nowhere. */
  reveal(ref: string, tenant: string, provider: string): string {
    const credential = this.check(ref, tenant);
    if (credential.provider === provider) return credential.key.reveal();
    throw new TerminalError('credential_forbidden', {
      message: `The credential ${quoted(ref, 80)} is for ${credential.provider}, and the model is served by ${provider}.`,
      hint: 'Choose a model of its provider with ai.provider and ai.model.',
    });
  }
}
