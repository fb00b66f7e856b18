/** The limit for reading: splices rows from the store's own file into frames and sends them, with no other work. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { query } from '../packages/host/src/log/sqlite/query.ts';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { present } from '../packages/host/test/kit/present.ts';
import { serveCommands } from './child.ts';

type FrameRow = readonly [seq: number, at: number, type: string, payload: string];

const PAGE = 500;

const doc = ([seq, at, type, payload]: FrameRow): string =>
  `{"eventId":"run:${seq}","runId":"run","type":"${type}","payload":${payload},"timestamp":"${at}","sequence":${seq}}`;

const frame = (row: FrameRow): string => `id: ${row[0]}\nevent: ${row[2]}\ndata: ${doc(row)}\n\n`;

/** Serves one run: the whole run as a stream at `/events`, and the events after a seq at `/after/<seq>`. */
async function serve({ file, runId }: { readonly file: string; readonly runId: string }): Promise<number> {
  const db = new DatabaseSync(file, { readOnly: true });
  const run = Number(db.prepare('SELECT key FROM runs WHERE id = ?').get(runId)?.key);
  const page = query<FrameRow>(
    db,
    `SELECT seq, at, type, payload FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ${PAGE}`,
  );
  const after = (seq: number) => page.all(run, seq);

  const stream = async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let rows = after(-1); rows.length > 0; rows = after(present(rows.at(-1))[0])) {
      if (!response.write(rows.map(frame).join(''))) await once(response, 'drain');
    }
    response.end();
  };

  const server = createServer((request, response) => {
    const [, kind, seq] = present(request.url).split('/');
    if (kind === 'events') return void stream(response);
    const body = `{"events":[${after(Number(seq)).map(doc).join(',')}]}`;
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return portOf(server);
}

const commands = { serve };

export type ReaderCommands = typeof commands;

serveCommands(commands);
