/** The rows of all runs in commit order, from Postgres. */
import type { ChangeLog } from '../ports/changes.ts';
import type { Database } from './database.ts';
import type { Horizon } from './horizon.ts';
import { readChanges } from './rows/changes.ts';
import type { SharedValues } from './rows/shared-values.ts';

export const postgresChanges = (database: Database, horizon: Horizon, values: SharedValues): ChangeLog => ({
  read: async (range) => {
    const { rows, position } = await readChanges(database, horizon, range);
    return { rows: values.sharing(rows), position };
  },
  end: async () => {
    await database.rows('SELECT 1');
    return String(await horizon.end());
  },
  lastCursor: () => lastCursor(database),
});

async function lastCursor(database: Database): Promise<number> {
  const [[cursor] = [0]] = await database.rows<[number]>(
    `SELECT greatest(coalesce((SELECT max(cursor) FROM cairn.events), 0),
       coalesce((SELECT max(cursor) FROM cairn.tombstones), 0))::bigint`,
  );
  return cursor;
}
