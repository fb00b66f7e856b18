/** This process as a node of its store: work that one node does, notices to all nodes, and turns between nodes. */
import { RetryableError } from '@cairn/protocol';
import type { Report } from '../../engine/ports.ts';
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import type { Cluster } from '../../log/ports/cluster.ts';
import { ClusterJob, type HeldLease, type JobPorts, type Part } from './cluster-job.ts';
import { UsageExchange } from './usage-exchange.ts';

export interface ClusterNodePorts extends JobPorts {
  readonly cluster: Cluster;
}

/** The subjects of notices. */
export type Topic =
  | 'session.opened'
  | 'session.ended'
  | 'run.purged'
  | 'subscriptions.changed'
  | 'mcp.reply'
  | 'mcp.cancelled';

/** How long one of many nodes may take for its turn before another one gets it. */
const TURN_MS = 10_000;

/** How long a node waits for its turn. */
const WAIT_MS = 15_000;

const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

export class ClusterNode {
  readonly #ports: ClusterNodePorts;
  readonly #listeners = new Map<string, Set<(body: string) => void>>();
  readonly #unfollow: () => void;
  /** The end of what this process does under each name. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(ports: ClusterNodePorts) {
    this.#ports = ports;
    this.#unfollow = ports.cluster.follow(({ topic, body }) => {
      for (const listener of this.#listeners.get(topic) ?? []) listener(body);
    });
  }

  get node(): string {
    return this.#ports.node;
  }

  /** Call `open` to take part. */
  job(name: string, start: (lease: HeldLease) => Promise<Part>): ClusterJob {
    return new ClusterJob(name, start, this.#ports);
  }

  /** Shares what is counted with the other nodes. Call `open` to begin. */
  exchange(counters: readonly SharedCounters[]): UsageExchange {
    return new UsageExchange(counters, this.#ports);
  }

  /** Calls the listener for notices of every node, those of this one too. Returns the unsubscribe function. */
  on(topic: Topic, listener: (body: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  publish(topic: Topic, body: string): Promise<void> {
    return this.#ports.cluster.publish({ topic, body });
  }

  /** For a notice that only hastens what happens anyway. */
  hint(topic: Topic, body: string): void {
    const failed = (error: unknown) =>
      this.#report({ level: 'warn', event: 'cluster.notice_failed', facts: { topic }, error });
    this.publish(topic, body).catch(failed);
  }

  /** Runs work that no other caller does under this name at the same time, in this process or on another node. */
  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(name) ?? Promise.resolve();
    const mine = before.then(() => this.#onThisNode(name, work));
    const done = mine
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(name) === done) this.#turns.delete(name);
      });
    this.#turns.set(name, done);
    return mine;
  }

  async #onThisNode<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const { cluster, node, now, timers } = this.#ports;
    const giveUpAt = now() + WAIT_MS;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const asked = now();
      if ((await cluster.hold({ name, owner: node, now: asked, until: asked + TURN_MS })) !== null) break;
      if (asked >= giveUpAt) throw busy(name);
      await new Promise<void>((resolve) => void timers.after(waitMs, resolve));
    }
    try {
      return await work();
    } finally {
      // Left to its end if the store fails.
      await cluster.release({ name, owner: node, forgets: true }).catch(() => undefined);
    }
  }

  close(): void {
    this.#unfollow();
  }

  readonly #report: Report = (notice) => this.#ports.report(notice);
}

const busy = (name: string): RetryableError =>
  new RetryableError('service_unavailable', {
    message: `Another node has worked on ${name} for more than ${WAIT_MS / 1_000} seconds.`,
    hint: 'Send the request again.',
    details: { reason: 'busy', retryAfterMs: 2_000 },
  });
