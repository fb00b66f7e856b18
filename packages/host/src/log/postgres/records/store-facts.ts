/** What nodes know of their database: the key that it is used with, and the id that they share. */
import { TerminalError } from '@cairn/protocol';
import type { Database } from '../database.ts';

/** The fact that says how far a move into this database is (`log/copy/move-record.ts`). */
export const MOVE = 'move';

/** The channel of this database: each has its own. */
export const CHANNEL = 'channel';

export interface StoreFacts {
  /** Identifies the master key, without revealing it; null before the first node. */
  keyId(): Promise<string | null>;
  saveKeyId(id: string): Promise<void>;
  /** The id that the first node generated; null before it did. */
  hostId(): Promise<string | null>;
  /** Keeps the id, unless another node was faster. */
  saveHostId(id: string): Promise<void>;
  /** The channel on which nodes tell each other of commits. Nobody without rights to the tables can guess it. */
  channel(): Promise<string>;
  /** How far a move into this database is, as JSON; null if there was none. */
  move(): Promise<string | null>;
  /** What the clock of the database shows, in milliseconds. */
  now(): Promise<number>;
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
    channel: async () => {
      await database.changed(
        "INSERT INTO cairn.facts VALUES ($1::text, 'cairn_' || gen_random_uuid()) ON CONFLICT (name) DO NOTHING",
        [CHANNEL],
      );
      return (await known(CHANNEL)) ?? '';
    },
    move: () => known(MOVE),
    now: async () => {
      const [[now] = [0]] = await database.rows<[number]>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint',
      );
      return now;
    },
  };
}

/** Refuses a database that a move has filled in part: its hosts would miss runs. */
export async function refuseHalfMoved(database: Database): Promise<void> {
  const found = await storeFacts(database).move();
  // Parsed here: JSON in Postgres has no U+0000, which a key may have.
  if (found === null || JSON.parse(found).step === 'done') return;
  throw new TerminalError('store_failed', {
    message: `A move into the database ${database.place} is not complete.`,
    hint: 'Run "cairn move" again: it goes on where it stopped.',
  });
}
