/** Sign-ins of tools: what a tool asks for, what the host has to know, and what the tool gets. */
import { isJsonObject, type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import type { Redactor } from '../../engine/ports.ts';
import { type Asked, checkWait, checkWords } from './questions.ts';
import type { SignedIn, SignInRequest, ToolQuestion } from './tool.ts';

/** Whose credential is meant. */
export interface CredentialOwner {
  readonly tenant: string;
  /** Null for callers without a principal. */
  readonly principal: string | null;
  readonly provider: string;
}

export interface WantedSignIn extends CredentialOwner {
  readonly scopes: readonly string[];
  readonly contextId: string;
}

/** A sign-in as the log records it. A credential itself is never part of it. */
export type SignInRecord = {
  readonly provider: string;
  readonly credentialRef: string;
  readonly scopes: string[];
  readonly expiresAt?: string;
};

/** How the user signs in: plain JSON, recorded with the question. */
export type SignInChallenge = {
  readonly authType: 'oauth2' | 'api-key' | 'pat' | 'password';
  /** For OAuth: the address below which the sign-ins of the context begin. */
  readonly authorizeAt?: string;
  /** For keys: the public key, a JWK, that the client encrypts the key to. */
  readonly encryptionKey?: JsonObject;
  readonly infoUrl?: string;
};

export interface SignInPort {
  /** A stored credential that is enough, or how to ask the user for one. Throws if no such provider is configured. */
  begin(wanted: WantedSignIn): Promise<{ readonly ready: SignInRecord } | { readonly challenge: SignInChallenge }>;
  /** The credential. Throws `auth_expired` if there is none any more. */
  token(owner: CredentialOwner): Promise<string>;
  /** Removes this value, too. */
  hiding(value: string, redactor: Redactor | null): Redactor;
}

/** Most scopes of one request, and the characters of each. */
const MAX_SCOPES = 100;
const MAX_SCOPE = 256;

export interface SigningIn {
  readonly port: SignInPort;
  readonly owner: Omit<WantedSignIn, 'provider' | 'scopes'>;
  /** Told of every credential before the function gets it. */
  readonly handOut: (value: string) => void;
}

export function signInAsked(request: SignInRequest, { port, owner, handOut }: SigningIn): Asked<SignedIn> {
  const { provider, scopes = [], timeoutMs } = request;
  if (typeof provider !== 'string' || provider === '') throw wrong('names no provider');
  const { prompt = `Sign in to ${provider} to go on.`, name = provider } = request;
  checkWords(prompt, name);
  checkWait(timeoutMs);
  if (scopes.length > MAX_SCOPES || scopes.some((scope) => typeof scope !== 'string' || !isScope.test(scope))) {
    throw wrong(`has scopes that cannot be any: at most ${MAX_SCOPES}, each of ${MAX_SCOPE} printable characters`);
  }
  const question = {
    kind: 'signIn' as const,
    name,
    prompt,
    provider,
    ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return {
    question: { ...question, authType: 'custom' },
    prepare: async () => {
      const begun = await port.begin({ ...owner, provider, scopes });
      return 'ready' in begun ? begun : { question: { ...question, ...begun.challenge } satisfies ToolQuestion };
    },
    read: (answer) => ({
      value: {
        ...recordOf(answer, provider),
        token: async () => {
          const value = await port.token({ ...owner, provider });
          handOut(value);
          return value;
        },
      },
    }),
  };
}

/** The scope token of RFC 6749. */
const isScope = new RegExp(`^[\\x21\\x23-\\x5B\\x5D-\\x7E]{1,${MAX_SCOPE}}$`);

function recordOf(answer: Json, provider: string): Omit<SignedIn, 'token'> {
  const { credentialRef, scopes, expiresAt } = isJsonObject(answer) ? answer : {};
  return {
    provider,
    credentialRef: typeof credentialRef === 'string' ? credentialRef : '',
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
  };
}

const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `The sign-in of the tool ${why}.` });
