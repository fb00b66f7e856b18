/** Expiring records in SQLite: few small rows, written when a session is ended or a sign-in link is made. */
import type { ExpiringRecord, ExpiringRecords } from '../ports/expiring.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

type Columns = [owner: string, body: string, expiresAt: number];

export function sqliteExpiring({ db, writer, read }: Connection): ExpiringRecords {
  // A few, so that none waits for the leavings of thousands.
  const over = db.prepare(
    'DELETE FROM expiring WHERE place IN (SELECT place FROM expiring WHERE expires_at <= ? LIMIT 64)',
  );
  const put = db.prepare(
    'INSERT OR REPLACE INTO expiring (kind, name, owner, body, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const tooMany = db.prepare(
    `DELETE FROM expiring WHERE place IN (
       SELECT place FROM expiring WHERE kind = ?1 AND owner = ?2 ORDER BY expires_at DESC, place DESC LIMIT -1 OFFSET ?3)`,
  );
  const one = query<Columns>(
    db,
    'SELECT owner, body, expires_at FROM expiring WHERE kind = ? AND name = ? AND expires_at > ?',
  );
  const remove = db.prepare('DELETE FROM expiring WHERE kind = ? AND name = ?');
  const counted = query<[count: number]>(
    db,
    'SELECT count(*) FROM expiring WHERE kind = ? AND owner = ? AND expires_at > ?',
  );
  const find = (kind: string, name: string, now: number): ExpiringRecord | null => {
    const found = one.get(kind, name, now);
    return found === undefined ? null : { kind, name, owner: found[0], body: found[1], expiresAt: found[2] };
  };
  return {
    put: ({ kind, name, owner, body, expiresAt }, { now, maxOfOwner }) =>
      writer.submit({
        rows: 1,
        bytes: body.length,
        apply: () => {
          over.run(now);
          put.run(kind, name, owner, body, expiresAt);
          tooMany.run(kind, owner, maxOfOwner);
        },
      }),
    get: async ({ kind, name }, now) => read(() => find(kind, name, now)),
    // One job, so that of two callers only the first finds it.
    take: ({ kind, name }, now) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        apply: (): ExpiringRecord | null => {
          const found = find(kind, name, now);
          remove.run(kind, name);
          return found;
        },
      }),
    count: async (kind, owner, now) => read(() => counted.get(kind, owner, now)?.[0] ?? 0),
  };
}
