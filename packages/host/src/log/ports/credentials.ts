/** Credentials of users for other services, sealed by the caller, and sign-ins that are under way. */

export interface Credentials {
  /** Replaces the credential with the same reference. */
  put(record: CredentialRecord): Promise<void>;
  get(ref: string): Promise<CredentialRecord | null>;
  /** The credentials of one user, by provider. */
  list(tenant: string, principal: string): Promise<readonly CredentialRecord[]>;
  /** True when the user had it. */
  drop(owner: Pick<CredentialRecord, 'tenant' | 'principal' | 'ref'>): Promise<boolean>;
  /** Begins an attempt to sign in. It replaces an earlier one of the same request, and drops some of those that are over. */
  begin(attempt: SignInAttempt, now: number): Promise<void>;
  /** Takes an attempt out: only the first caller gets it. Null when there is none, also when its time is over. */
  take(state: string, now: number): Promise<SignInAttempt | null>;
}

export interface CredentialRecord {
  /** Names the credential in the log. One for each tenant, principal and provider. */
  readonly ref: string;
  readonly tenant: string;
  /** Empty for callers without a principal. */
  readonly principal: string;
  readonly provider: string;
  readonly scopes: readonly string[];
  /** The credential, encrypted. The store never sees it in the clear. */
  readonly sealed: string;
  /** Null when it does not expire, or when that is unknown. */
  readonly expiresAt: number | null;
  readonly storedAt: number;
}

export interface SignInAttempt {
  /** Hash of the state that the provider gives back. */
  readonly state: string;
  /** The request that it belongs to, unique in the store. */
  readonly request: string;
  /** What the host needs to go on, encrypted. */
  readonly sealed: string;
  readonly expiresAt: number;
}
