/**
 * Watchers of runs: they use the live feed of either node, stall, disconnect, and resume from the last seq they saw.
 */
import type { RunId } from '@cairn/protocol';
import type { Sink, Subscription } from '../../packages/host/src/log/feed/sink.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Auditor } from './auditor.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

export interface StreamWorld {
  readonly random: Random;
  readonly auditor: Auditor;
  readonly complain: Complain;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
}

/** The parts of a node that a watcher uses. */
export interface Watched {
  readonly name: string;
  readonly feed: { subscribe(range: { readonly runId: RunId; readonly after: number }, sink: Sink): Subscription };
}

/** One watcher of a run: the events seen, and the connection in use. */
interface Watcher {
  readonly runId: RunId;
  seen: number;
  connection: { readonly life: string; readonly subscription: Subscription; stalled: boolean } | null;
}

export class Streams {
  readonly #world: StreamWorld;
  readonly #watchers = new Map<RunId, Watcher>();

  constructor(world: StreamWorld) {
    this.#world = world;
  }

  /** Connects, or changes the existing connection. */
  act(runId: RunId, life: Watched): void {
    const { random, count, note } = this.#world;
    const watcher: Watcher = this.#watchers.get(runId) ?? { runId, seen: -1, connection: null };
    this.#watchers.set(runId, watcher);
    const { connection } = watcher;
    if (connection === null) this.#connect(watcher, life);
    else if (random.chance(0.3)) {
      note(`watcher of ${runId} leaves ${connection.life}`);
      watcher.connection = null;
      connection.subscription.close();
    } else if (connection.stalled) this.#resume(watcher);
    else {
      count('stream stalled');
      connection.stalled = true;
    }
  }

  /** The node is gone or closes its connections. */
  forget(life: string): void {
    for (const watcher of this.#watchers.values()) {
      if (watcher.connection?.life !== life) continue;
      watcher.connection.subscription.close();
      watcher.connection = null;
    }
  }

  resumeAll(): void {
    for (const watcher of this.#watchers.values()) if (watcher.connection?.stalled === true) this.#resume(watcher);
  }

  /** Called once every run has ended and no watcher stalls: a watcher that is still connected was left hanging. */
  checkAll(): void {
    for (const { runId, seen, connection } of this.#watchers.values()) {
      if (connection === null) continue;
      const rows = this.#world.auditor.runs.get(runId)?.rows.length;
      this.#world.complain('a stream ends after the terminal event', { runId, seen, rows, life: connection.life });
    }
  }

  #connect(watcher: Watcher, life: Watched): void {
    const { note, count } = this.#world;
    const { runId, seen } = watcher;
    if (seen >= 0) count('stream resumed');
    note(`watcher of ${runId} comes to ${life.name} after ${seen}`);
    const subscription = life.feed.subscribe(
      { runId, after: seen },
      {
        write: ({ text }) => this.#see(watcher, subscription, text),
        end: (fault) => this.#end(watcher, subscription, fault),
      },
    );
    watcher.connection = { life: life.name, subscription, stalled: false };
  }

  #resume(watcher: Watcher): void {
    const { connection } = watcher;
    if (connection === null) return;
    connection.stalled = false;
    connection.subscription.resume();
  }

  #see(watcher: Watcher, subscription: Subscription, chunk: string): boolean {
    const { complain, auditor } = this.#world;
    const { runId } = watcher;
    const durable = auditor.runs.get(runId)?.rows.length ?? 0;
    if (watcher.connection?.subscription !== subscription) complain('a closed stream is silent', { runId });
    for (const [, id] of chunk.matchAll(/^id: (\d+)$/gm)) {
      const seq = Number(id);
      if (seq !== watcher.seen + 1) {
        complain('a stream misses nothing and repeats nothing', { runId, seq, seen: watcher.seen });
      }
      if (seq >= durable) complain('a stream shows only what is durable', { runId, seq, durable });
      watcher.seen = seq;
    }
    return watcher.connection?.stalled !== true;
  }

  #end(watcher: Watcher, subscription: Subscription, fault: unknown): void {
    const { complain, count, auditor } = this.#world;
    if (watcher.connection?.subscription === subscription) watcher.connection = null;
    if (fault !== undefined) return;
    const run = auditor.runs.get(watcher.runId);
    count('stream ended');
    if (run?.ended == null || watcher.seen !== run.rows.length - 1) {
      complain('a stream ends after the terminal event', { runId: watcher.runId, seen: watcher.seen });
    }
  }
}
