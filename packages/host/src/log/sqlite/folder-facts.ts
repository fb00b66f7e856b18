/** What a host knows of its own data folder: the key that it was used with, and the host's generated id. */

import type { Connection } from './connection.ts';
import { query } from './query.ts';

export interface FolderFacts {
  /** Identifies the key in the folder, without revealing it; null when the folder was never used with one. */
  keyId(): Promise<string | null>;
  saveKeyId(id: string): Promise<void>;
  /** The id that a host of this folder generated; null before the first did. */
  hostId(): Promise<string | null>;
  saveHostId(id: string): Promise<void>;
  /** Whether a host has run something here. An import alone leaves no such run. */
  hasLocalRuns(): Promise<boolean>;
}

export function folderFacts({ db, read, writer }: Connection): FolderFacts {
  const fact = query<[value: string]>(db, 'SELECT value FROM folder_facts WHERE name = ?');
  const put = db.prepare('INSERT OR REPLACE INTO folder_facts VALUES (?, ?)');
  const known = async (name: string): Promise<string | null> => read(() => fact.get(name)?.[0] ?? null);
  const save = (name: string, value: string): Promise<void> =>
    writer.submit({ rows: 1, bytes: value.length, apply: () => void put.run(name, value) });
  const local = query<[one: number]>(db, 'SELECT 1 FROM runs WHERE imported_at IS NULL LIMIT 1');
  return {
    keyId: () => known('key'),
    saveKeyId: (id) => save('key', id),
    hostId: () => known('host'),
    saveHostId: (id) => save('host', id),
    hasLocalRuns: async () => read(() => local.get() !== undefined),
  };
}
