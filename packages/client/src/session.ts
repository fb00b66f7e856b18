/** Browser sessions: an HttpOnly cookie that authenticates pages of the host's own site. */
import type { BrowserSession, OpenedSession, SignInLink } from '@cairn/protocol';
import { asked, type CallOptions, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Session {
  /** Opens one for the client's key. Pages of the host's own site can then read without the key. */
  open(options?: CallOptions): Promise<OpenedSession>;
  /** Who the caller is; in a page of the host, with the token of its session. */
  get(options?: CallOptions): Promise<BrowserSession>;
  /** Ends it; no error when there is none. */
  close(options?: CallOptions): Promise<void>;
  /** A link that opens Studio once, signed in as the caller. */
  createLink(options?: CallOptions): Promise<SignInLink>;
  /** Opens a session with the code of a link. */
  redeemLink(code: string, options?: CallOptions): Promise<OpenedSession>;
}

const PATH = '/v1/host/cairn/session';
const LINKS = '/v1/host/cairn/sign-in-links';

export function sessionCalls(connection: Connection): Session {
  return {
    open: (options) => connection.json({ method: 'POST', path: PATH, keepsCookie: true, ...asked(options) }),
    get: (options) => read(connection, PATH, options),
    async close(options) {
      await connection.call({ method: 'DELETE', path: PATH, keepsCookie: true, repeatable: true, ...asked(options) });
    },
    createLink: (options) => connection.json({ method: 'POST', path: LINKS, repeatable: true, ...asked(options) }),
    redeemLink: (code, options) =>
      connection.json({ method: 'POST', path: `${LINKS}/${segment(code)}`, keepsCookie: true, ...asked(options) }),
  };
}
