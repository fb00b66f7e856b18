/** Browser sessions: an HttpOnly, read-only cookie that authenticates an EventSource. */
import { asked, type CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Session {
  /** Opens one for the client's key. Pages of the host's own site can then read without the key. */
  open(options?: CallOptions): Promise<{ readonly expiresAt: string }>;
  /** Ends it; no error when there is none. */
  close(options?: CallOptions): Promise<void>;
}

const PATH = '/v1/host/cairn/session';

export function sessionCalls(connection: Connection): Session {
  return {
    open: (options) => connection.json({ method: 'POST', path: PATH, keepsCookie: true, ...asked(options) }),
    async close(options) {
      await connection.call({ method: 'DELETE', path: PATH, keepsCookie: true, repeatable: true, ...asked(options) });
    },
  };
}
