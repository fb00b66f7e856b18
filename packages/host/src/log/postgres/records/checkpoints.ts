/** Run checkpoints and reader positions in Postgres. */
import type { RunId } from '@cairn/protocol';
import { type Checkpoint, type Checkpoints, isSuperseded } from '../../ports/checkpoints.ts';
import type { Database } from '../database.ts';

export function postgresCheckpoints(database: Database): Checkpoints {
  return {
    put: (checkpoint) => put(database, checkpoint),
    get: async (runId, atMost = Number.MAX_SAFE_INTEGER) => {
      const [found] = await database.rows<[run: RunId, seq: number, format: string, body: string]>(
        `SELECT run, seq, format, body FROM cairn.checkpoints WHERE run = $1::text AND seq <= $2::bigint
           ORDER BY seq DESC LIMIT 1`,
        [runId, atMost],
      );
      return found === undefined ? null : { runId: found[0], seq: found[1], format: found[2], body: found[3] };
    },
    position: async (reader) => {
      const [found] = await database.rows<[string]>('SELECT position FROM cairn.positions WHERE reader = $1::text', [
        reader,
      ]);
      return found?.[0] ?? null;
    },
    putPosition: async (reader, position) => {
      await database.changed(
        `INSERT INTO cairn.positions VALUES ($1::text, $2::text)
           ON CONFLICT (reader) DO UPDATE SET position = excluded.position`,
        [reader, position],
      );
    },
  };
}

/** Only the holder of a run's lease puts its checkpoints. Two at once would at worst leave one too many. */
function put(database: Database, { runId, seq: after, format, body }: Checkpoint): Promise<void> {
  return database.transaction(async (queries) => {
    const newest = await queries.rows<[seq: number, bytes: number]>(
      'SELECT seq, octet_length(body) FROM cairn.checkpoints WHERE run = $1::text ORDER BY seq DESC LIMIT 2',
      [runId],
    );
    const [[seq, bytes] = [-1, 0], [before] = [-1]] = newest;
    if (seq > after) return;
    if (seq < after && isSuperseded(bytes, { before, after }))
      await queries.changed('DELETE FROM cairn.checkpoints WHERE run = $1::text AND seq = $2::bigint', [runId, seq]);
    await queries.changed(
      `INSERT INTO cairn.checkpoints VALUES ($1::text, $2::bigint, $3::text, $4::text)
         ON CONFLICT (run, seq) DO UPDATE SET format = excluded.format, body = excluded.body`,
      [runId, after, format, body],
    );
  });
}
