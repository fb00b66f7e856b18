/** What the host measures. */
import { asked, type CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';

export const readMetrics = (connection: Connection, options?: CallOptions): Promise<string> =>
  connection.retried({ method: 'GET', path: '/metrics', ...asked(options) }, async (request) =>
    (await connection.send(request)).text(),
  );
