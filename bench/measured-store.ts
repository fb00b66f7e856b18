/**
 * The measured store: opened as the host opens it. Reports faults immediately, since they would distort the numbers.
 */
import { openSqliteStore } from '../packages/host/src/log/sqlite/folder/open.ts';
import type { SqliteStore } from '../packages/host/src/log/sqlite/store.ts';

export type { SqliteStore };

export function openMeasuredStore(folder: string): Promise<SqliteStore> {
  return openSqliteStore({
    folder,
    onFault: (fault) => console.error('store:', fault),
    elapsedMs: () => performance.now(),
  });
}
