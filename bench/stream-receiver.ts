/** The receiver for the stream figures: a separate process with many subscribers that count every frame. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { TerminalError } from '@cairn/protocol';
import { present } from '../packages/host/test/kit/present.ts';
import { cpuMs, serveCommands } from './child.ts';
import { requestText } from './http-connection.ts';
import { percentile } from './statistics.ts';
import { type Emitted, machineMs } from './stream-pace.ts';
import type { Target } from './watched-run.ts';

/** Maximum wait for the last frames. */
const PATIENCE_MS = 20_000;

export interface Received {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly frames: number;
  /** Time from the first event to the last frame of the last subscriber. */
  readonly ms: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  /** Cores this process used in that time. */
  readonly cores: number;
}

/** One subscriber: the sequences it received, in order, and when each was complete. */
class Subscriber {
  readonly #socket: Socket;
  readonly seqs: number[] = [];
  readonly at: number[] = [];
  #rest = '';
  #headed = false;

  constructor(port: number, request: string) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', () => {});
    this.#socket.write(request);
  }

  /** Resolves once the server has answered. */
  async opened(): Promise<void> {
    while (!this.#headed) await once(this.#socket, 'data');
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const now = machineMs();
    const all = this.#rest + text;
    let from = this.#headed ? 0 : this.#head(all);
    if (!this.#headed) {
      this.#rest = all;
      return;
    }
    for (let end = all.indexOf('\n\n', from); end >= 0; end = all.indexOf('\n\n', from)) {
      const id = all.indexOf('id: ', from);
      // A block without an id is a comment. An id past `end` belongs to a later frame.
      if (id >= 0 && id < end) {
        this.seqs.push(Number.parseInt(all.slice(id + 4, id + 20), 10));
        this.at.push(now);
      }
      from = end + 2;
    }
    this.#rest = all.slice(from);
  }

  /** Returns the offset at which the body begins. */
  #head(all: string): number {
    const end = all.indexOf('\r\n\r\n');
    if (end < 0) return 0;
    if (!all.startsWith('HTTP/1.1 200')) {
      throw new TerminalError('internal_error', { message: `The stream was refused: ${all.slice(0, 300)}` });
    }
    this.#headed = true;
    return end + 4;
  }
}

function receiverCommands() {
  let subscribers: Subscriber[] = [];
  let cpu = 0;
  let since = 0;
  return {
    open: async (wish: {
      readonly target: Target;
      readonly path: string;
      readonly count: number;
      readonly lastId: number;
    }) => {
      const { target, path, count, lastId } = wish;
      const head = requestText({ method: 'GET', path, key: target.key, accept: 'text/event-stream' });
      const request = lastId < 0 ? head : head.replace(/\r\n$/, `Last-Event-ID: ${lastId}\r\n\r\n`);
      // Connects in groups, because a server accepts a limited number of new connections at once.
      for (let begun = 0; begun < count; begun += 100) {
        const group = Array.from({ length: Math.min(100, count - begun) }, () => new Subscriber(target.port, request));
        await Promise.all(group.map((subscriber) => subscriber.opened()));
        subscribers.push(...group);
      }
      present(globalThis.gc)();
      cpu = cpuMs();
      since = machineMs();
    },

    /** Waits for all events, reports how they arrived, and closes the subscribers. */
    received: async (emitted: Emitted): Promise<Received> => {
      const wanted = emitted.at.length;
      const give = machineMs() + PATIENCE_MS;
      while (subscribers.some(({ seqs }) => seqs.length < wanted) && machineMs() < give) await setTimeout(20);
      const cores = (cpuMs() - cpu) / (machineMs() - since);
      const result = judged(subscribers, emitted);
      for (const subscriber of subscribers) subscriber.close();
      subscribers = [];
      return { ...result, cores };
    },
  };
}

function judged(subscribers: readonly Subscriber[], { firstSeq, at }: Emitted): Omit<Received, 'cores'> {
  const latencies: number[] = [];
  let duplicated = 0;
  let outOfOrder = 0;
  let lost = 0;
  let frames = 0;
  let last = 0;
  for (const { seqs, at: times } of subscribers) {
    const seen = new Set<number>();
    seqs.forEach((seq, index) => {
      if (seen.has(seq)) duplicated += 1;
      else if (index > 0 && seq < present(seqs[index - 1])) outOfOrder += 1;
      seen.add(seq);
      latencies.push(present(times[index]) - present(at[seq - firstSeq]));
      last = Math.max(last, present(times[index]));
    });
    frames += seqs.length;
    lost += at.reduce((missing, _, index) => missing + (seen.has(firstSeq + index) ? 0 : 1), 0);
  }
  const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { p50Ms, p99Ms, frames, ms: last - present(at[0]), lost, duplicated, outOfOrder };
}

export type ReceiverCommands = ReturnType<typeof receiverCommands>;

serveCommands(receiverCommands());
