/** Which credential a request shows, and whose it is: a key or a token in the header, or the session of a browser. */
import type { IncomingHttpHeaders } from 'node:http';
import { TerminalError } from '@cairn/protocol';
import type { Caller } from './auth.ts';
import type { Sessions } from './sessions.ts';

/** What of a request tells who sent it. */
export interface Presented {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** Gives the caller, or throws: `unauthenticated`, `key_expired`, or `service_unavailable` when nobody can tell. */
export type Authenticate = (presented: Presented) => Caller | Promise<Caller>;

export interface CredentialSources {
  readonly key: (text: string) => Caller | null;
  /** Null when the configuration has no `jwt`. */
  readonly token: ((text: string) => Promise<Caller>) | null;
  readonly sessions: Sessions;
}

/** Three parts of base64url: what a signed token looks like, and a key of the configuration hardly ever. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createAuthenticate({ key, token, sessions }: CredentialSources): Authenticate {
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

  const session = (sessionId: string, { method, headers }: Presented): Caller => {
    refuseOtherPages(headers);
    if (method !== 'GET') {
      // A page of somebody else could make a browser send the cookie, but never the header.
      throw unauthenticated(`A session is good for GET only, not for ${method}.`, SEND_KEY);
    }
    const caller = sessions.find(sessionId);
    if (caller !== null) return caller;
    throw unauthenticated('The session is over or was never here.', 'Open a new one: POST /v1/host/cairn/session.');
  };

  return (presented) => {
    const { authorization, cookie } = presented.headers;
    if (authorization !== undefined) return bearer(authorization);
    const sessionId = cookie === undefined ? null : sessions.idIn(cookie);
    if (sessionId !== null) return session(sessionId, presented);
    throw unauthenticated('The request has no bearer key.', SEND_KEY);
  };
}

/** An image or a link of another page sends no Origin; where the browser tells whose page it is, that decides. */
function refuseOtherPages({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
  if (origin !== undefined || site === undefined || site === 'same-origin' || site === 'none') return;
  throw new TerminalError('forbidden', {
    message: 'Pages of other origins may not use the session of this host.',
    hint: 'Call it from its own pages, or add the origin to cors.origins and use fetch or EventSource.',
  });
}

const SEND_KEY = 'Send the header "Authorization: Bearer <key>".';

const unauthenticated = (message: string, hint: string): TerminalError =>
  new TerminalError('unauthenticated', { message, hint });
