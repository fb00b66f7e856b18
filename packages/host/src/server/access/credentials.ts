/** Authenticates a request by a key or token in the Authorization header, or by a browser session cookie. */
import type { IncomingHttpHeaders } from 'node:http';
import { SESSION_TOKEN_HEADER, TerminalError } from '@cairn/protocol';
import type { Caller } from './auth.ts';
import type { Sessions } from './sessions.ts';

/** The parts of a request that authentication reads. */
export interface Presented {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Returns the caller. Throws `unauthenticated`, `key_expired`, or `service_unavailable` when a token cannot be checked.
 */
export type Authenticate = (presented: Presented) => Caller | Promise<Caller>;

export interface CredentialSources {
  readonly key: (text: string) => Caller | null;
  /** Null when the configuration has no `jwt`. */
  readonly token: ((text: string) => Promise<Caller>) | null;
  readonly sessions: Sessions;
  /** Whether a page of this origin is a page of the host itself. */
  readonly isOwnOrigin: (origin: string, host: string | undefined) => boolean;
}

/** Three base64url parts: the form of a signed token. An access key hardly ever looks like this. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createAuthenticate({ key, token, sessions, isOwnOrigin }: CredentialSources): Authenticate {
  const bearer = (authorization: string): Caller | Promise<Caller> => {
    const text = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    if (text === undefined) {
      throw unauthenticated('The Authorization header holds no bearer key.', SEND_KEY);
    }
    const caller = key(text);
    if (caller !== null) return caller;
    if (token !== null && TOKEN.test(text)) return token(text);
    throw unauthenticated('The bearer key is not known here.', 'Check the key, or ask for a new one.');
  };

  const session = async (sessionId: string, { method, headers }: Presented): Promise<Caller> => {
    refuseOtherPages(headers);
    const proof = headers[SESSION_TOKEN_HEADER];
    if (proof === undefined && method !== 'GET') {
      // Another site can make a browser send the cookie, but it can neither read the token nor send the header.
      throw unauthenticated(`A session without its token is good for GET only, not for ${method}.`, SEND_TOKEN);
    }
    if (proof !== undefined && !isOfOwnPage(method, headers)) {
      throw new TerminalError('forbidden', {
        message: 'Only pages of this host may use the token of a session.',
        hint: 'Send a key from other pages and from programs.',
      });
    }
    const caller = await sessions.find(sessionId, proof === undefined ? undefined : String(proof));
    if (caller === null) {
      throw unauthenticated(
        proof === undefined ? 'The session is not one of this host.' : 'The session and its token do not fit.',
        OPEN_SESSION,
      );
    }
    if (caller !== 'over') return caller;
    throw new TerminalError('key_expired', { message: 'The session is over.', hint: OPEN_SESSION });
  };

  /** Browsers send Origin with every change, and with reads of other origins. */
  const isOfOwnPage = (method: string, { origin, host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
    origin === undefined ? method === 'GET' || site === 'same-origin' : isOwnOrigin(origin, host);

  return (presented) => {
    const { authorization, cookie } = presented.headers;
    if (authorization !== undefined) return bearer(authorization);
    const sessionId = cookie === undefined ? null : sessions.idIn(cookie);
    if (sessionId !== null) return session(sessionId, presented);
    throw noCredential();
  };
}

/** A request without a credential guesses nothing, so it does not count as a failed attempt. */
export const isAnonymous = ({ headers }: Presented): boolean =>
  headers.authorization === undefined && headers.cookie === undefined;

export const noCredential = (): TerminalError => unauthenticated('The request has no bearer key.', SEND_KEY);

/** An image or link on another site sends no Origin. If the browser sends Sec-Fetch-Site, that header decides. */
function refuseOtherPages({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
  if (origin !== undefined || site === undefined || site === 'same-origin' || site === 'none') return;
  throw new TerminalError('forbidden', {
    message: 'Pages of other origins may not use the session of this host.',
    hint: 'Call it from its own pages, or add the origin to cors.origins and use fetch or EventSource.',
  });
}

const OPEN_SESSION = 'Open a new one: POST /v1/host/cairn/session.';
const SEND_TOKEN =
  'Send the header "Cairn-Session-Token" too; GET /v1/host/cairn/session returns the token. Or send a key.';
const SEND_KEY = 'Send the header "Authorization: Bearer <key>".';

const unauthenticated = (message: string, hint: string): TerminalError =>
  new TerminalError('unauthenticated', { message, hint });
