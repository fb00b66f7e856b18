/** Transactions. The driver's own go on after their connection is lost, which ends the process: it writes to no socket. */
import type { Connections, Send } from './connections.ts';

/** Commits what the work did, or rolls it back if it throws. `work` sends its statements through `send`. */
export function transact<Result>(connections: Connections, work: (send: Send) => Promise<Result>): Promise<Result> {
  // A node that is silently gone holds its locks no longer than it would have waited for an answer.
  const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${connections.deadlineMs ?? 0}`;
  return connections.use(async (send) => {
    await send((sql) => sql.unsafe(begin));
    try {
      const result = await work(send);
      await send((sql) => sql.unsafe('COMMIT'));
      return result;
    } catch (error) {
      await send((sql) => sql.unsafe('ROLLBACK')).catch(() => undefined);
      throw error;
    }
  });
}
