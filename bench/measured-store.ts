/**
 * The measured store: opened as the host opens it. Reports faults immediately, since they would distort the numbers.
 */
import type { Store } from '../packages/host/src/log/ports/store.ts';
import { openPostgresStore, type PostgresStore } from '../packages/host/src/log/postgres/store.ts';
import { openSqliteStore } from '../packages/host/src/log/sqlite/folder/open.ts';
import type { SqliteStore } from '../packages/host/src/log/sqlite/store.ts';

export type { PostgresStore, SqliteStore };

/** Either of them. */
export type MeasuredStore = Store & Pick<SqliteStore, 'stats'>;

const onFault = (fault: unknown) => console.error('store:', fault);
const elapsedMs = () => performance.now();

export function openMeasuredStore(folder: string): Promise<SqliteStore> {
  return openSqliteStore({ folder, onFault, elapsedMs });
}

/** A node's own connections to a database, which gets its schema if it has none. */
export function openMeasuredPostgres(url: string): Promise<PostgresStore> {
  return openPostgresStore({ url, migrates: true, onFault, elapsedMs });
}
