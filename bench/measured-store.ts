/** The store that is measured: as the host opens it, with faults shown at once, since they would spoil the numbers. */
import { openSqliteStore } from '../packages/host/src/log/sqlite/open.ts';
import type { SqliteStore } from '../packages/host/src/log/sqlite/store.ts';

export type { SqliteStore };

export function openMeasuredStore(folder: string): Promise<SqliteStore> {
  return openSqliteStore({
    folder,
    onFault: (fault) => console.error('store:', fault),
    elapsedMs: () => performance.now(),
  });
}
