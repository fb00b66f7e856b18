/** The limit for the host: a server without logic that only group-commits and streams the rows of a real run. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { present } from '../packages/host/test/kit/present.ts';
import { cpuMs, serveCommands } from './child.ts';
import { ListedRuns } from './listed-runs.ts';
import { RawRows } from './raw-rows.ts';
import type { RunShape } from './run-shape.ts';

interface HollowRun {
  readonly number: number;
  frames: string;
  stream: ServerResponse | null;
  ended: boolean;
}

/** Writes in the same event-loop turn share a commit, as in the store. */
class GroupCommit {
  readonly #rows: RawRows;
  #queue: { readonly put: () => void; readonly done: () => void }[] = [];

  constructor(rows: RawRows) {
    this.#rows = rows;
  }

  write(put: () => void): Promise<void> {
    if (this.#queue.length === 0) setImmediate(() => this.#flush());
    return new Promise((done) => this.#queue.push({ put, done }));
  }

  #flush(): void {
    const batch = this.#queue;
    this.#queue = [];
    this.#rows.begin();
    for (const { put } of batch) put();
    this.#rows.commit();
    for (const { done } of batch) done();
  }
}

function hollowServer(rows: RawRows, shape: RunShape) {
  const commit = new GroupCommit(rows);
  const listed = new ListedRuns(rows.db, shape.listed);
  const length = shape.rows.rows.length;
  const runs = new Map<number, HollowRun>();
  let lastRun = 0;

  const writeCommit = (run: HollowRun, from: number, to: number) =>
    commit.write(() => {
      if (from === 0) listed.begin(run.number);
      if (to === length) listed.end(run.number);
      for (let seq = from; seq < to; seq++) rows.put(seq, run.number, seq);
    });

  const advance = async (run: HollowRun, created: () => void) => {
    for (const { from, to, frames } of shape.commits) {
      await writeCommit(run, from, to);
      if (from === 0) created();
      if (run.stream === null) run.frames += frames;
      else run.stream.write(frames);
    }
    run.ended = true;
    if (run.stream !== null) finish(run, run.stream);
  };

  const finish = (run: HollowRun, stream: ServerResponse) => {
    stream.end();
    runs.delete(run.number);
  };

  const create = (response: ServerResponse) => {
    const run: HollowRun = { number: ++lastRun, frames: '', stream: null, ended: false };
    runs.set(run.number, run);
    const body = JSON.stringify({ runId: String(run.number), status: 'running' });
    void advance(run, () => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
    });
  };

  const follow = (runId: string, response: ServerResponse) => {
    const run = present(runs.get(Number(runId)));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(run.frames);
    run.stream = response;
    if (run.ended) finish(run, response);
  };

  return createServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'POST') {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        JSON.parse(Buffer.concat(parts).toString());
        create(response);
      });
    } else follow(present(present(request.url).split('/')[3]), response);
  });
}

function hollowCommands() {
  let rows: RawRows | undefined;
  return {
    serve: async ({ folder, shape }: { readonly folder: string; readonly shape: RunShape }): Promise<number> => {
      rows = new RawRows(join(folder, 'hollow.db'), shape.rows);
      const server = hollowServer(rows, shape);
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      return portOf(server);
    },
    usage: () => ({ cpuMs: cpuMs(), commits: rows?.commits ?? 0 }),
  };
}

export type HollowCommands = ReturnType<typeof hollowCommands>;

serveCommands(hollowCommands());
