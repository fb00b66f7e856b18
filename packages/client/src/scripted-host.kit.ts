/** A small real HTTP server that streams a fixed run, and a proxy that cuts its answers where it is told to. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as connectSocket, createServer as createSocketServer, type Socket } from 'node:net';
import type { RunEventDoc } from '@cairn/protocol';
import type { Timers } from './timers.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The n events of a run, the last one terminal. */
export function runOf(n: number): readonly RunEventDoc[] {
  return Array.from({ length: n }, (_, sequence) => ({
    eventId: `run_a:${sequence}`,
    runId: 'run_a',
    type: sequence === n - 1 ? 'run.completed' : sequence === 0 ? 'run.started' : 'node.completed',
    payload: { text: `event ${sequence} — ünïcode 🪨` },
    timestamp: '2026-01-01T00:00:00.000Z',
    sequence,
  }));
}

export const frame = (event: RunEventDoc): string =>
  `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export async function listen(answer: Answer): Promise<Listening> {
  return listening(createServer(answer));
}

/** Streams the events after `Last-Event-ID`, then ends; answers polls about them. */
export function serving(events: readonly RunEventDoc[]): Answer {
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    if (url.pathname.endsWith('/poll')) {
      const after = Number(url.searchParams.get('lastSequence') ?? -1);
      const rest = events.filter((event) => event.sequence > after);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ events: rest, isComplete: true }));
      return;
    }
    const after = Number(request.headers['last-event-id'] ?? -1);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) if (event.sequence > after) response.write(`:keepalive\n\n${frame(event)}`);
    response.end();
  };
}

/** Passes bytes through, and cuts each connection after the next number of bytes of answer; without one, never. */
export async function chaosProxy(target: number, cuts: readonly number[]): Promise<Listening> {
  let connections = 0;
  const server = createSocketServer((client) => {
    let rest = cuts[connections] ?? Number.POSITIVE_INFINITY;
    connections += 1;
    const upstream = connectSocket(target, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      const passed = bytes.subarray(0, Math.min(bytes.length, rest));
      rest -= bytes.length;
      client.write(passed, () => {
        if (rest <= 0) cut(client, upstream);
      });
    });
    upstream.on('end', () => client.end());
    for (const socket of [client, upstream]) socket.on('error', () => cut(client, upstream));
    client.on('close', () => upstream.destroy());
  });
  return listening(server);
}

function cut(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

async function listening(server: Server | ReturnType<typeof createSocketServer>): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Timers under the test's control: spans are noted, and pass only when the test says so. */
export class ManualTimers implements Timers {
  readonly asked: number[] = [];
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #watchers = new Set<() => void>();

  after(ms: number, wake: () => void): () => void {
    this.asked.push(ms);
    const wakes = this.#waiting.get(ms) ?? new Set();
    this.#waiting.set(ms, wakes.add(wake));
    for (const watcher of this.#watchers) watcher();
    return () => wakes.delete(wake);
  }

  random(): number {
    return 0.5;
  }

  /** Lets a span pass that somebody waits for, as soon as somebody does. */
  async pass(ms: number): Promise<void> {
    while ((this.#waiting.get(ms)?.size ?? 0) === 0) {
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
    const wakes = [...(this.#waiting.get(ms) ?? [])];
    this.#waiting.delete(ms);
    for (const wake of wakes) wake();
  }
}

/** Reconnects at once, but never finds a connection silent. */
export const eagerTimers: Timers = {
  after: (ms, wake) => {
    if (ms >= 60_000) return () => undefined;
    const immediate = setImmediate(wake);
    return () => clearImmediate(immediate);
  },
  random: () => 0,
};

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
