/**
 * The store of suites that run on either database: a data folder, or with CAIRN_SUITE_STORE=postgres a database of a real
 * server for each folder; not shipped.
 */
import type { Store } from '../ports/store.ts';
import { openSqliteStore } from '../sqlite/folder/open.ts';
import { elapsedMs, freshDatabase } from './server.kit.ts';
import { openPostgresStore } from './store.ts';

export const isShared = process.env.CAIRN_SUITE_STORE === 'postgres';

/** The database that stands for a folder, also after it was closed. */
const databases = new Map<string, string>();

export async function openSuiteStore(folder: string): Promise<Store> {
  if (!isShared) return openSqliteStore({ folder });
  const url = databases.get(folder) ?? (await freshDatabase());
  databases.set(folder, url);
  return openPostgresStore({ url, connections: 4, elapsedMs });
}

/** How a command names the store. */
export const suiteStoreFlags = (folder: string): readonly string[] =>
  isShared ? ['--store', databases.get(folder) ?? ''] : ['--data', folder];
