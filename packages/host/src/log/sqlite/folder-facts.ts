/** What a host knows of its own data folder: the key that it was used with. */

import type { Connection } from './connection.ts';
import { query } from './query.ts';

export interface FolderFacts {
  /** Identifies the key in the folder, without revealing it; null when the folder was never used with one. */
  keyId(): Promise<string | null>;
  saveKeyId(id: string): Promise<void>;
  /** Whether a host has run something here. An import alone leaves no such run. */
  hasLocalRuns(): Promise<boolean>;
}

export function folderFacts({ db, read, writer }: Connection): FolderFacts {
  const fact = query<[value: string]>(db, "SELECT value FROM folder_facts WHERE name = 'key'");
  const save = db.prepare("INSERT OR REPLACE INTO folder_facts VALUES ('key', ?)");
  const local = query<[one: number]>(db, 'SELECT 1 FROM runs WHERE imported_at IS NULL LIMIT 1');
  return {
    keyId: async () => read(() => fact.get()?.[0] ?? null),
    saveKeyId: (id) => writer.submit({ rows: 1, bytes: id.length, apply: () => void save.run(id) }),
    hasLocalRuns: async () => read(() => local.get() !== undefined),
  };
}
