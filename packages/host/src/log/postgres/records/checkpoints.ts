/** Run checkpoints and reader positions in Postgres. */
import type { RunId } from '@cairn/protocol';
import { utf8Size } from '../../../utf8.ts';
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
async function put(database: Database, { runId, seq: after, format, body }: Checkpoint): Promise<void> {
  const newest = await database.rows<[seq: number, bytes: number]>(
    'SELECT seq, bytes FROM cairn.checkpoints WHERE run = $1::text ORDER BY seq DESC LIMIT 2',
    [runId],
  );
  const [[seq, bytes] = [-1, 0], [before] = [-1]] = newest;
  if (seq > after) return;
  const superseded = seq < after && isSuperseded(bytes, { before, after }) ? seq : -1;
  await database.changed(
    `WITH dropped AS (DELETE FROM cairn.checkpoints WHERE run = $1::text AND seq = $2::bigint)
     INSERT INTO cairn.checkpoints (run, seq, format, bytes, body)
       VALUES ($1::text, $3::bigint, $4::text, $5::integer, $6::text)
       ON CONFLICT (run, seq) DO UPDATE SET format = excluded.format, bytes = excluded.bytes, body = excluded.body`,
    [runId, superseded, after, format, utf8Size(body), body],
  );
}
