/** Sign-ins of users: what tools ask for, the way through an OAuth provider, and the credentials that come of it. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isCairnError, type Json, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { CredentialOwner, SignInPort } from '../../agents/tools/sign-in.ts';
import type { Redactor } from '../../engine/ports.ts';
import type { SignInAttempt } from '../../log/ports/credentials.ts';
import { MARKER } from '../../redaction/markers.ts';
import { SensitiveRedactor } from '../../redaction/sensitive-redactor.ts';
import type { HostConfig } from '../config/config.ts';
import { sealerOf } from '../secrets/sealed.ts';
import {
  CredentialVault,
  type NewCredential,
  recordOf,
  type StoredCredential,
  type VaultPorts,
} from './credential-vault.ts';
import { authorizationUrl, exchangeCode, type OAuthPorts, refreshed, scopesOf } from './oauth-client.ts';
import { newEncryptionKey, openCredential } from './sealed-keys.ts';

export interface SignInPorts extends VaultPorts, OAuthPorts {
  readonly services: HostConfig['signIns'];
  /** The public address of the host; null before it serves, and if it never does. */
  readonly baseUrl: () => string | null;
}

/** A token that ends within this time is renewed before it is handed out. */
const RENEW_BEFORE_MS = 60_000;
/** How long a user may take at the provider. */
export const ATTEMPT_MS = 600_000;

/** The path that providers send users back to. Operators register it with them. */
export const CALLBACK_PATH = '/api/sign-ins/callback';

const attemptShape = z.object({
  tenant: z.string(),
  principal: z.string().nullable(),
  contextId: z.string(),
  runId: z.string(),
  authId: z.string(),
  provider: z.string(),
  scopes: z.array(z.string()),
  verifier: z.string(),
  redirectUri: z.string(),
  /** Hash of the secret in the browser that began. */
  browser: z.string(),
});

export type PendingSignIn = z.infer<typeof attemptShape>;

export class SignIns implements SignInPort {
  readonly vault: CredentialVault;
  readonly #ports: SignInPorts;
  /** Renewals under way: a refresh token may count only once. */
  readonly #renewals = new Map<string, Promise<StoredCredential | null>>();

  constructor(ports: SignInPorts) {
    this.#ports = ports;
    this.vault = new CredentialVault(ports);
  }

  readonly begin: SignInPort['begin'] = async ({ tenant, principal, provider, scopes, contextId }) => {
    const service = this.#service(provider);
    const credential = await this.#current({ tenant, principal, provider });
    if (credential !== null && scopes.every((scope) => credential.scopes.includes(scope))) {
      return { ready: recordOf(provider, credential) };
    }
    const { kind } = service;
    if (kind !== 'oauth2') {
      const { infoUrl } = service;
      const encryptionKey = newEncryptionKey(this.#ports.keys);
      return { challenge: { authType: kind, encryptionKey, ...(infoUrl === undefined ? {} : { infoUrl }) } };
    }
    const base = this.#ports.baseUrl();
    if (base === null)
      throw new TerminalError('tool_failed', { message: 'A host without HTTP cannot sign anybody in.' });
    return { challenge: { authType: kind, authorizeAt: `${base}/api/contexts/${contextId}/auths` } };
  };

  readonly token: SignInPort['token'] = async (owner) => {
    const credential = await this.#current(owner);
    if (credential !== null) return credential.secret.value;
    throw new TerminalError('auth_expired', {
      message: `The credential of the user for ${owner.provider} has expired or was removed.`,
      hint: 'Call the tool again: it asks the user to sign in.',
    });
  };

  readonly hiding: SignInPort['hiding'] = (value, redactor): Redactor =>
    new SensitiveRedactor([{ reference: MARKER, value }], [], redactor);

  /** Stores a key that the user typed in, as the client encrypted it. */
  async storeKey(
    owner: CredentialOwner,
    asked: { readonly scopes: readonly string[]; readonly encryptionKey: Json | undefined },
    jwe: string,
  ) {
    if (this.#service(owner.provider).kind === 'oauth2') throw notConfigured(owner.provider);
    const value = await openCredential(this.#ports.keys, asked.encryptionKey, jwe);
    return recordOf(
      owner.provider,
      await this.vault.put(owner, { secret: { value }, scopes: asked.scopes, expiresAt: null }),
    );
  }

  /** Sends a browser on its way: the address at the provider, and the secret that it has to bring back. */
  async start(
    asked: Pick<PendingSignIn, 'tenant' | 'principal' | 'contextId' | 'runId' | 'authId' | 'provider'>,
    scopes: readonly string[],
  ) {
    const service = this.#service(asked.provider);
    if (service.kind !== 'oauth2') throw notConfigured(asked.provider);
    const { credentials, now, baseUrl } = this.#ports;
    const [state, verifier, browser] = [secretText(), secretText(), secretText()];
    const redirectUri = `${baseUrl() ?? ''}${CALLBACK_PATH}`;
    const wanted = scopesOf(service, scopes);
    const attempt: PendingSignIn = { ...asked, scopes: [...wanted], verifier, redirectUri, browser: digest(browser) };
    const sealed = this.#sealer(digest(state)).seal(JSON.stringify(attempt));
    const request = `${asked.runId}/${asked.authId}`;
    await credentials.begin({ state: digest(state), request, sealed, expiresAt: now() + ATTEMPT_MS }, now());
    return { url: authorizationUrl(service, { state, verifier, redirectUri, scopes: wanted }), state, browser };
  }

  /** The attempt of a state, once. Throws when there is none, and when another browser began it. */
  async take(state: string, browser: string | null): Promise<PendingSignIn> {
    const { credentials, now } = this.#ports;
    const found = await credentials.take(digest(state), now());
    if (found === null) throw overOrUnknown();
    const attempt = this.#opened(found);
    if (browser === null || !timingSafeEqual(Buffer.from(digest(browser)), Buffer.from(attempt.browser))) {
      throw new TerminalError('forbidden', {
        message: 'Another browser began this sign-in.',
        hint: 'Begin again in this browser, with your own account.',
      });
    }
    return attempt;
  }

  /** Exchanges the code of an attempt and stores the credential. `issuer` is what the provider says it is. */
  async exchange(attempt: PendingSignIn, code: string, issuer: string | undefined) {
    const { provider, scopes, verifier, redirectUri, tenant, principal } = attempt;
    const service = this.#service(provider);
    if (service.kind !== 'oauth2') throw notConfigured(provider);
    if (service.issuer !== undefined && issuer !== undefined && issuer !== service.issuer) throw overOrUnknown();
    const credential = await exchangeCode(service, { code, verifier, redirectUri, scopes }, this.#ports);
    return recordOf(provider, await this.vault.put({ tenant, principal, provider }, credential));
  }

  #opened({ state, sealed }: SignInAttempt): PendingSignIn {
    return attemptShape.parse(JSON.parse(this.#sealer(state).open(sealed)));
  }

  #sealer(state: string) {
    return sealerOf(this.#ports.keys, `attempt ${state}`);
  }

  #service(provider: string) {
    const { services } = this.#ports;
    const service = Object.hasOwn(services, provider) ? services[provider] : undefined;
    if (service === undefined) throw notConfigured(provider);
    return service;
  }

  /** The credential of a user, renewed if need be; null if the user has to sign in. */
  async #current(owner: CredentialOwner): Promise<StoredCredential | null> {
    const credential = await this.#readable(owner);
    if (credential === null || credential.expiresAt === null) return credential;
    if (credential.expiresAt > this.#ports.now() + RENEW_BEFORE_MS) return credential;
    const { ref } = credential;
    const underWay = this.#renewals.get(ref);
    if (underWay !== undefined) return underWay;
    const renewal = this.#renewed(owner, credential).finally(() => this.#renewals.delete(ref));
    this.#renewals.set(ref, renewal);
    return renewal;
  }

  /** A credential that was sealed with a lost key is as good as none: the user signs in again. */
  async #readable(owner: CredentialOwner): Promise<StoredCredential | null> {
    try {
      return await this.vault.get(owner);
    } catch (error) {
      if (isCairnError(error, 'internal_error')) return null;
      throw error;
    }
  }

  async #renewed(owner: CredentialOwner, credential: StoredCredential): Promise<StoredCredential | null> {
    const service = this.#service(owner.provider);
    // It may still be good for a moment.
    const isGood = () => (credential.expiresAt ?? 0) > this.#ports.now();
    let fresh: NewCredential | null;
    try {
      fresh = service.kind === 'oauth2' ? await refreshed(service, credential, this.#ports) : null;
    } catch (error) {
      if (isGood()) return credential;
      throw error;
    }
    if (fresh !== null) return this.vault.put(owner, fresh);
    if (isGood()) return credential;
    // Another node may have renewed it meanwhile, which used up the refresh token; or the user signed in anew.
    const stored = await this.#readable(owner);
    if (stored !== null && stored.secret.value !== credential.secret.value) return stored;
    await this.vault.forget(owner);
    return null;
  }
}

const secretText = (): string => randomBytes(32).toString('base64url');
const digest = (text: string): string => hash('sha256', text, 'base64url');

const notConfigured = (provider: string): TerminalError =>
  new TerminalError('tool_failed', {
    message: `This host has no sign-in ${quoted(provider, 80)}.`,
    hint: 'Ask the operator to add it to signIns.',
  });

const overOrUnknown = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'This sign-in is not under way: it took too long, was done before, or never began here.',
    hint: 'Go back to the conversation and begin again.',
  });
