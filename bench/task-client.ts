/** The load generator's side of the task-event figures: a client of conversations over bare sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { cpuMs } from './child.ts';
import { HttpConnection, requestText } from './http-connection.ts';
import { countMarks, expectStatus } from './replies.ts';
import type { Target } from './watched-run.ts';

const DELTA = Buffer.from('\nevent: content-delta\n');
const END = Buffer.from('\nevent: task-complete\n');
const CREATED = Buffer.from('\nevent: task-created\n');

const PATH = '/api/messages';

function messageText({ key }: Target, agentId: string): string {
  const body = JSON.stringify({ message: { role: 'user', content: 'Go.' }, agentId });
  return requestText({ method: 'POST', path: PATH, key, accept: 'text/event-stream', body });
}

let streams: Socket[] = [];

export const taskCommands = {
  /** Sends a message and reads its task to the end. The time is from the first bytes with text to the last byte. */
  message: async ({ target, agentId }: { readonly target: Target; readonly agentId: string }) => {
    const connection = new HttpConnection(target.port);
    const [deltas, ends] = [countMarks(DELTA), countMarks(END)];
    let first = Number.NaN;
    /** Text that came with the first bytes; it was made before the clock started. */
    let before = 0;
    const cpu = cpuMs();
    const begin = performance.now();
    const read = (bytes: Buffer) => {
      deltas.take(bytes);
      ends.take(bytes);
      if (Number.isNaN(first) && deltas.count() > 0) {
        first = performance.now();
        before = deltas.count();
      }
    };
    expectStatus(await connection.send(messageText(target, agentId), read), 200, PATH);
    const now = performance.now();
    connection.close();
    return {
      deltas: deltas.count(),
      counted: deltas.count() - before,
      isComplete: ends.count() === 1,
      ms: now - first,
      clientCores: (cpuMs() - cpu) / (now - begin),
    };
  },

  /** Messages one after the other: milliseconds to the first byte of each body, and to its first event. */
  firstBytes: async (load: { readonly target: Target; readonly agentId: string; readonly count: number }) => {
    const { target, agentId, count } = load;
    const connection = new HttpConnection(target.port);
    const [firstMs, createdMs]: [number[], number[]] = [[], []];
    for (let i = 0; i < count; i++) {
      const created = countMarks(CREATED);
      let [first, shown] = [Number.NaN, Number.NaN];
      const begin = performance.now();
      const read = (bytes: Buffer) => {
        if (Number.isNaN(first)) first = performance.now() - begin;
        created.take(bytes);
        if (Number.isNaN(shown) && created.count() > 0) shown = performance.now() - begin;
      };
      expectStatus(await connection.send(messageText(target, agentId), read), 200, PATH);
      firstMs.push(first);
      createdMs.push(shown);
    }
    connection.close();
    return { firstMs, createdMs };
  },

  /** Reads each of these, one after the other. Returns the milliseconds of each. */
  pages: async ({ target, paths }: { readonly target: Target; readonly paths: readonly string[] }) => {
    const connection = new HttpConnection(target.port);
    const took: number[] = [];
    for (const path of paths) {
      const request = requestText({ method: 'GET', path, key: target.key });
      const begin = performance.now();
      const { body } = expectStatus(await connection.send(request), 200, path);
      took.push(body.includes('"events":[{') ? performance.now() - begin : Number.NaN);
    }
    connection.close();
    return took;
  },

  /** Opens streams and leaves them open. Resolves once each was told that nothing is left. */
  openStreams: async ({ target, paths }: { readonly target: Target; readonly paths: readonly string[] }) => {
    for (let begun = 0; begun < paths.length; begun += 100) {
      const some = paths.slice(begun, begun + 100).map(async (path) => {
        const socket = connect({ port: target.port, host: '127.0.0.1' });
        streams.push(socket);
        socket.setEncoding('latin1');
        socket.write(requestText({ method: 'GET', path, key: target.key, accept: 'text/event-stream' }));
        for (let text = ''; !text.includes('stream:caught-up'); ) text += (await once(socket, 'data'))[0];
      });
      await Promise.all(some);
    }
  },

  closeStreams: () => {
    for (const socket of streams) socket.destroy();
    streams = [];
  },
};
