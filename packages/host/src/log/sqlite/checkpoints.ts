/** Run checkpoints and reader positions in SQLite. The table of positions is named `marks`. */
import type { RunId } from '@cairn/protocol';
import type { Checkpoints } from '../ports/checkpoints.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

export function sqliteCheckpoints({ db, writer, read }: Connection): Checkpoints {
  const put = db.prepare(
    `INSERT INTO checkpoints VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE
       SET seq = excluded.seq, format = excluded.format, body = excluded.body WHERE excluded.seq >= checkpoints.seq`,
  );
  const get = query<[runId: RunId, seq: number, format: string, body: string]>(
    db,
    'SELECT run, seq, format, body FROM checkpoints WHERE run = ?',
  );
  const putPosition = db.prepare(
    'INSERT INTO marks VALUES (?, ?) ON CONFLICT (reader) DO UPDATE SET position = excluded.position',
  );
  const position = query<[position: string]>(db, 'SELECT position FROM marks WHERE reader = ?');
  return {
    put: ({ runId, seq, format, body }) =>
      writer.submit({ rows: 1, bytes: body.length, apply: () => void put.run(runId, seq, format, body) }),
    get: async (runId) =>
      read(() => {
        const found = get.get(runId);
        return found === undefined ? null : { runId: found[0], seq: found[1], format: found[2], body: found[3] };
      }),
    position: async (reader) => read(() => position.get(reader)?.[0] ?? null),
    putPosition: (reader, at) => writer.submit({ rows: 1, bytes: 0, apply: () => void putPosition.run(reader, at) }),
  };
}
