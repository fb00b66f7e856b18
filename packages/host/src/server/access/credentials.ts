/** Which credential a request shows, and whose it is: a key or a token in the header, or the session of a browser. */
import { TerminalError } from '@cairn/protocol';
import type { Caller } from '../auth.ts';
import { readSessionId, type Sessions } from './sessions.ts';

/** What of a request tells who sent it. */
export interface Presented {
  readonly method: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
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

  const session = (sessionId: string, method: string): Caller => {
    if (method !== 'GET') {
      // A page of somebody else could make a browser send the cookie, but never the header.
      throw unauthenticated(`A session is good for GET only, not for ${method}.`, SEND_KEY);
    }
    const caller = sessions.find(sessionId);
    if (caller !== null) return caller;
    throw unauthenticated('The session is over or was never here.', 'Open a new one: POST /v1/host/cairn/session.');
  };

  return ({ method, authorization, cookie }) => {
    if (authorization !== undefined) return bearer(authorization);
    const sessionId = cookie === undefined ? null : readSessionId(cookie);
    if (sessionId !== null) return session(sessionId, method);
    throw unauthenticated('The request has no bearer key.', SEND_KEY);
  };
}

const SEND_KEY = 'Send the header "Authorization: Bearer <key>".';

const unauthenticated = (message: string, hint: string): TerminalError =>
  new TerminalError('unauthenticated', { message, hint });
