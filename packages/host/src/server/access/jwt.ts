/** Validates JWTs of a trusted issuer: maps claims to a caller and explains why a token is refused. */
import { isCairnError, TerminalError } from '@cairn/protocol';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { JwtConfig } from '../config/access.ts';
import { printable } from '../config/fields.ts';
import { audienceFor, type Caller, type Scope, scopes, toolScope } from './auth.ts';
import type { IssuerKeys } from './jwks.ts';

export interface TokenPorts {
  readonly keys: IssuerKeys;
  readonly now: () => number;
}

/** Maximum length of a tenant or principal, as in the configuration. */
const MAX_NAME_LENGTH = 128;

/** Returns the caller of a token. Throws `unauthenticated`, `key_expired` or `service_unavailable`. */
export function createTokenCheck(config: JwtConfig, { keys, now }: TokenPorts): (token: string) => Promise<Caller> {
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys.find, {
        issuer: config.issuer,
        audience: config.audience,
        algorithms: config.algorithms,
        clockTolerance: config.clockToleranceMs / 1000,
        requiredClaims: ['exp'],
        currentDate: new Date(now()),
      });
      return tokenCaller(payload, config);
    } catch (error) {
      throw refusal(error);
    }
  };
}

function tokenCaller(payload: JWTPayload, { claims }: JwtConfig): Caller {
  const tenant = nameIn(payload, claims.tenant);
  if (tenant === undefined) throw unauthenticated(`The token names no tenant: its claim ${claims.tenant} is missing.`);
  const principal = nameIn(payload, claims.principal);
  const held = new Set(scopesIn(payload[claims.scopes]));
  return {
    tenant,
    principal,
    scopes: held,
    toolScopes: wordsIn(payload[claims.scopes]).filter((word) => toolScope.test(word)),
    audience: audienceFor(held),
    credential: `token:${JSON.stringify([tenant, principal ?? null])}`,
    expiresAt: (payload.exp ?? 0) * 1000,
  };
}

function nameIn(payload: JWTPayload, claim: string): string | undefined {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  if (value === undefined) return undefined;
  const fits = typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH;
  if (fits && printable.test(value)) return value;
  throw unauthenticated(`The claim ${claim} of the token must be 1 to ${MAX_NAME_LENGTH} printable characters.`);
}

/** Ignores scopes of other services. A token without the claim has no scopes. */
function scopesIn(claim: unknown): readonly Scope[] {
  const words = wordsIn(claim);
  return scopes.filter((scope) => words.includes(scope));
}

function wordsIn(claim: unknown): readonly string[] {
  const words: readonly unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return words.filter((word): word is string => typeof word === 'string');
}

/** Tells the holder what is wrong with the token, without quoting a key or the token itself. */
function refusal(error: unknown): unknown {
  if (isCairnError(error)) return error;
  if (error instanceof errors.JWTExpired) {
    return new TerminalError('key_expired', {
      message: 'The token has expired.',
      hint: 'Get a fresh one from its issuer.',
      cause: error,
    });
  }
  return unauthenticated(`The token is not accepted: ${reasonOf(error)}.`, error);
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its claim ${error.claim} is missing or not the right one`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its signature is of a kind that does not count here';
  if (error instanceof errors.JWKSNoMatchingKey) return 'its issuer has no such key';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'its header must name the key (kid)';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  return 'it is not a well-formed signed token';
}

const unauthenticated = (message: string, cause?: unknown): TerminalError =>
  new TerminalError('unauthenticated', {
    message,
    hint: 'Get a token of the configured issuer for the configured audience.',
    cause,
  });
