/** Transactions. The driver's own go on after their connection is lost, which ends the process: it writes to no socket. */
import type { Connections, Send } from './connections.ts';

/** Commits what the work did, or rolls it back if it throws. `work` sends its statements through `send`. */
export function transact<Result>(connections: Connections, work: (send: Send) => Promise<Result>): Promise<Result> {
  return connections.use(async (send) => {
    await send((sql) => sql.unsafe('BEGIN'));
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
