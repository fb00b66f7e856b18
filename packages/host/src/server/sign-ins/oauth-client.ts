/**
 * The host as an OAuth 2.1 client: authorization code with PKCE (S256), and refresh tokens. All addresses come from the
 * configuration.
 */
import { hash } from 'node:crypto';
import { isCairnError, type Json, parseShape, RetryableError, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { HostConfig } from '../config/config.ts';
import type { Egress } from '../egress/egress.ts';
import type { NewCredential } from './credential-vault.ts';

export type OAuthService = Extract<HostConfig['signIns'][string], { readonly kind: 'oauth2' }>;

export interface OAuthPorts {
  readonly egress: Egress;
  readonly now: () => number;
  readonly secret: (name: string) => string | undefined;
}

const TIMEOUT_MS = 15_000;
/** A token response; real ones have a few KB. */
const MAX_RESPONSE_BYTES = 65_536;

const token = z.string().min(8).max(16_384);
/** Some services write null for what they leave out. */
const tokenResponse = z.looseObject({
  access_token: token,
  token_type: z.string().nullish(),
  expires_in: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).nullish(),
  refresh_token: token.nullish(),
  scope: z.string().max(8_192).nullish(),
});

export interface AuthorizationRequest {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** The scopes of a request and those that the operator adds, each once. */
export const scopesOf = ({ scopes }: OAuthService, asked: readonly string[]): readonly string[] => [
  ...new Set([...scopes, ...asked]),
];

export function authorizationUrl(service: OAuthService, request: AuthorizationRequest): string {
  const url = new URL(service.authorizationEndpoint);
  const { searchParams } = url;
  searchParams.set('response_type', 'code');
  searchParams.set('client_id', service.clientId);
  searchParams.set('redirect_uri', request.redirectUri);
  if (request.scopes.length > 0) searchParams.set('scope', request.scopes.join(' '));
  searchParams.set('state', request.state);
  searchParams.set('code_challenge', hash('sha256', request.verifier, 'base64url'));
  searchParams.set('code_challenge_method', 'S256');
  return url.href;
}

export interface CodeExchange extends Omit<AuthorizationRequest, 'state'> {
  readonly code: string;
}

/** Exchanges the code for a credential. Throws when the service refuses it or cannot be reached. */
export function exchangeCode(service: OAuthService, exchange: CodeExchange, ports: OAuthPorts): Promise<NewCredential> {
  const { code, verifier, redirectUri, scopes } = exchange;
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  return requestToken(service, { form, scopes }, ports);
}

/** Null when the service does not accept the refresh token any more. Throws when it cannot be reached. */
export async function refreshed(
  service: OAuthService,
  { secret: { refreshToken }, scopes }: NewCredential,
  ports: OAuthPorts,
): Promise<NewCredential | null> {
  if (refreshToken === undefined) return null;
  try {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const fresh = await requestToken(service, { form, scopes }, ports);
    // A service that does not rotate refresh tokens sends none.
    return { ...fresh, secret: { refreshToken, ...fresh.secret } };
  } catch (error) {
    if (isCairnError(error, 'auth_denied')) return null;
    throw error;
  }
}

interface TokenRequest {
  readonly form: Readonly<Record<string, string>>;
  /** Granted, unless the response says otherwise. */
  readonly scopes: readonly string[];
}

async function requestToken(service: OAuthService, request: TokenRequest, ports: OAuthPorts): Promise<NewCredential> {
  const { clientId, clientSecret, tokenEndpoint } = service;
  const secret = clientSecret === undefined ? undefined : ports.secret(clientSecret.secret);
  const form = new URLSearchParams({ ...request.form, client_id: clientId });
  if (secret !== undefined) form.set('client_secret', secret);
  const { status, body, isCut } = await ports.egress.send({
    url: tokenEndpoint,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'cairn' },
    body: form.toString(),
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_RESPONSE_BYTES,
  });
  if (status === 429 || status >= 500) throw unavailable(tokenEndpoint, status);
  const found = tokenResponse.safeParse(status === 200 && !isCut ? jsonIn(body) : null);
  if (!found.success || !/^bearer$/i.test(found.data.token_type ?? 'bearer')) throw refused(tokenEndpoint, status);
  const { access_token: value, refresh_token: refreshToken, expires_in: seconds, scope } = found.data;
  return {
    secret: { value, ...(refreshToken == null ? {} : { refreshToken }) },
    scopes: scope == null ? request.scopes : scope.split(/[\s,]+/).filter((word) => word !== ''),
    expiresAt: seconds == null || seconds <= 0 ? null : ports.now() + Math.min(seconds, 1e9) * 1000,
  };
}

function jsonIn(body: Buffer): Json {
  try {
    return parseShape(z.json(), JSON.parse(body.toString('utf8')), 'The response');
  } catch {
    return null;
  }
}

/** The text of the service is not repeated: it may hold the code or a token. */
const refused = (endpoint: string, status: number): TerminalError =>
  new TerminalError('auth_denied', {
    message: `${new URL(endpoint).origin} gave no token (status ${status}).`,
    hint: 'Sign in again. If it happens every time, check the client id, the client secret and the redirect address at the service.',
  });

const unavailable = (endpoint: string, status: number): RetryableError =>
  new RetryableError('http_network_error', {
    message: `${new URL(endpoint).origin} answered with status ${status}.`,
    hint: 'Try again later.',
  });
