/** Run checkpoints and reader positions in SQLite. The table of positions is named `marks`. */
import type { RunId } from '@cairn/protocol';
import { type Checkpoint, type Checkpoints, isSuperseded } from '../ports/checkpoints.ts';
import type { Connection } from './connection.ts';
import { defineMarks } from './marks.ts';
import { query } from './query.ts';

export function sqliteCheckpoints({ db, writer, read }: Connection): Checkpoints {
  defineMarks(db);
  const add = db.prepare('INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, mark_of(?1, ?2, ?3, ?4))');
  const drop = db.prepare('DELETE FROM checkpoints WHERE run = ? AND seq = ?');
  const newest = query<[seq: number, bytes: number]>(
    db,
    'SELECT seq, octet_length(body) FROM checkpoints WHERE run = ? ORDER BY seq DESC LIMIT 2',
  );
  const get = query<[runId: RunId, seq: number, format: string, body: string]>(
    db,
    'SELECT run, seq, format, body FROM checkpoints WHERE run = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  const put = ({ runId, seq: after, format, body }: Checkpoint): void => {
    const [[seq, bytes] = [-1, 0], [before] = [-1]] = newest.all(runId);
    if (seq > after) return;
    if (seq === after || isSuperseded(bytes, { before, after })) drop.run(runId, seq);
    add.run(runId, after, format, body);
  };
  const putPosition = db.prepare(
    'INSERT INTO marks VALUES (?, ?) ON CONFLICT (reader) DO UPDATE SET position = excluded.position',
  );
  const position = query<[position: string]>(db, 'SELECT position FROM marks WHERE reader = ?');
  return {
    put: (checkpoint) => writer.submit({ rows: 1, bytes: checkpoint.body.length, apply: () => put(checkpoint) }),
    get: async (runId, atMost = Number.MAX_SAFE_INTEGER) =>
      read(() => {
        const found = get.get(runId, atMost);
        return found === undefined ? null : { runId: found[0], seq: found[1], format: found[2], body: found[3] };
      }),
    position: async (reader) => read(() => position.get(reader)?.[0] ?? null),
    putPosition: (reader, at) => writer.submit({ rows: 1, bytes: 0, apply: () => void putPosition.run(reader, at) }),
  };
}
