/** Run checkpoints and reader positions in Postgres. */
import type { RunId } from '@cairn/protocol';
import { LruMap } from '../../../lru-map.ts';
import { utf8Size } from '../../../utf8.ts';
import { type Checkpoint, type Checkpoints, isSuperseded } from '../../ports/checkpoints.ts';
import type { Database } from '../database.ts';

/** Runs whose newest checkpoint is known here: those that this node steps. */
const CAPACITY = 10_000;

/** The newest checkpoint of a run, and the one before it. */
interface Newest {
  readonly seq: number;
  readonly bytes: number;
  readonly before: number;
}

/** A checkpoint that is lost with the server is folded again: nobody waits for a flush, which delays those of commits. */
const PUT = `WITH unflushed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    dropped AS (DELETE FROM cairn.checkpoints WHERE run = $1::text AND seq = $2::bigint)
  INSERT INTO cairn.checkpoints (run, seq, format, bytes, body)
    SELECT $1::text, $3::bigint, $4::text, $5::integer, $6::text FROM unflushed
    ON CONFLICT (run, seq) DO UPDATE SET format = excluded.format, bytes = excluded.bytes, body = excluded.body`;

export function postgresCheckpoints(database: Database): Checkpoints {
  const known = new LruMap<RunId, Newest>(CAPACITY);
  return {
    put: (checkpoint) => put(database, known, checkpoint),
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
async function put(database: Database, known: LruMap<RunId, Newest>, checkpoint: Checkpoint): Promise<void> {
  const { runId, seq: after, format, body } = checkpoint;
  const kept = known.get(runId);
  const { seq, bytes, before } = kept !== undefined && kept.seq < after ? kept : await newest(database, runId);
  if (seq > after) return;
  const isReplaced = seq === after || (seq >= 0 && isSuperseded(bytes, { before, after }));
  const size = utf8Size(body);
  known.delete(runId);
  await database.changed(PUT, [runId, isReplaced && seq < after ? seq : -1, after, format, size, body]);
  known.set(runId, { seq: after, bytes: size, before: isReplaced ? before : seq });
}

async function newest(database: Database, runId: RunId): Promise<Newest> {
  const found = await database.rows<[seq: number, bytes: number]>(
    'SELECT seq, bytes FROM cairn.checkpoints WHERE run = $1::text ORDER BY seq DESC LIMIT 2',
    [runId],
  );
  const [[seq, bytes] = [-1, 0], [before] = [-1]] = found;
  return { seq, bytes, before };
}
