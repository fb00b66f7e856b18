/** What nodes know of their database: the key that it is used with, and the id that they share. */
import type { Database } from '../database.ts';

export interface StoreFacts {
  /** Identifies the master key, without revealing it; null before the first node. */
  keyId(): Promise<string | null>;
  saveKeyId(id: string): Promise<void>;
  /** The id that the first node generated; null before it did. */
  hostId(): Promise<string | null>;
  /** Keeps the id, unless another node was faster. */
  saveHostId(id: string): Promise<void>;
}

export function storeFacts(database: Database): StoreFacts {
  const known = async (name: string): Promise<string | null> => {
    const [found] = await database.rows<[string]>('SELECT value FROM cairn.facts WHERE name = $1::text', [name]);
    return found?.[0] ?? null;
  };
  const save = async (name: string, value: string, onConflict: string): Promise<void> => {
    await database.changed(`INSERT INTO cairn.facts VALUES ($1::text, $2::text) ON CONFLICT (name) ${onConflict}`, [
      name,
      value,
    ]);
  };
  return {
    keyId: () => known('key'),
    saveKeyId: (id) => save('key', id, 'DO UPDATE SET value = excluded.value'),
    hostId: () => known('host'),
    saveHostId: (id) => save('host', id, 'DO NOTHING'),
  };
}
