/**
 * Exchanges between the nodes of a store what tenants and callers use of their limits, so that a limit holds for all nodes
 * together. Each node decides by what the others said last: a burst that arrives at several nodes within one beat can
 * pass a limit by what the others admit in that time.
 */
import { z } from 'zod';
import type { Report, Timers } from '../../engine/ports.ts';
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import type { Cluster } from '../../log/ports/cluster.ts';

export interface ExchangePorts {
  readonly cluster: Pick<Cluster, 'beat' | 'leave'>;
  readonly node: string;
  readonly now: () => number;
  readonly timers: Timers;
  readonly report: Report;
}

/** How often a node tells what it uses. */
export const BEAT_MS = 1_000;

/** What a node said counts for this long without another word of it. */
const ALIVE_MS = 5 * BEAT_MS;

/** Of the largest counts of a node. The rest counts on that node alone. */
const MAX_NAMES = 2_000;

const countsShape = z.array(z.tuple([z.string(), z.number()]));
const bodyShape = z.object({ held: countsShape, spent: countsShape });

export class UsageExchange {
  readonly #counters: readonly SharedCounters[];
  readonly #ports: ExchangePorts;
  /** What each other node had spent when it was last heard. */
  readonly #seen = new Map<string, ReadonlyMap<string, number>>();
  #cancelTimer: () => void = () => {};
  #beating: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(counters: readonly SharedCounters[], ports: ExchangePorts) {
    this.#counters = counters;
    this.#ports = ports;
  }

  /** Resolves after the first exchange. */
  open(): Promise<void> {
    this.#beating = this.#beat();
    return this.#beating;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    await this.#beating;
    await this.#ports.cluster.leave(this.#ports.node).catch(() => undefined);
  }

  async #beat(): Promise<void> {
    const { cluster, node, now, timers, report } = this.#ports;
    const at = now();
    try {
      const others = await cluster.beat({ node, now: at, until: at + ALIVE_MS, body: this.#body() });
      this.#take(others.map((other) => ({ node: other.node, ...bodyShape.parse(JSON.parse(other.body)) })));
    } catch (error) {
      report({ level: 'warn', event: 'cluster.beat_failed', error });
    }
    if (this.#isClosed) return;
    this.#cancelTimer = timers.after(BEAT_MS, () => {
      this.#beating = this.#beat();
    });
  }

  #body(): string {
    const all = (of: (counters: SharedCounters) => Iterable<readonly [string, number]>) =>
      this.#counters.flatMap((counters, i) =>
        largest([...of(counters)]).map(([name, count]) => [`${i} ${name}`, count]),
      );
    return JSON.stringify({ held: all((counters) => counters.held()), spent: all((counters) => counters.spent()) });
  }

  #take(others: readonly (z.infer<typeof bodyShape> & { readonly node: string })[]): void {
    const held = this.#counters.map(() => new Map<string, number>());
    for (const other of others) {
      for (const [name, count] of other.held) {
        const [sums, own] = this.#named(held, name);
        sums?.set(own, (sums.get(own) ?? 0) + count);
      }
      const before = this.#seen.get(other.node);
      this.#seen.set(other.node, new Map(other.spent));
      // What a node spent before it was first heard of is over.
      if (before !== undefined) this.#charge(other.spent, before);
    }
    const alive = new Set(others.map(({ node }) => node));
    for (const node of this.#seen.keys()) if (!alive.has(node)) this.#seen.delete(node);
    this.#counters.forEach((counters, i) => {
      counters.elsewhere(held[i] ?? new Map());
    });
  }

  #charge(spent: readonly (readonly [string, number])[], before: ReadonlyMap<string, number>): void {
    for (const [name, count] of spent) {
      const known = before.get(name) ?? 0;
      const [counters, own] = this.#named(this.#counters, name);
      // A node that forgot a name counts from 0 again.
      counters?.charge(own, count >= known ? count - known : count);
    }
  }

  #named<Of>(of: readonly Of[], name: string): [Of | undefined, string] {
    const space = name.indexOf(' ');
    return [of[Number(name.slice(0, space))], name.slice(space + 1)];
  }
}

const largest = (counts: (readonly [string, number])[]): readonly (readonly [string, number])[] =>
  counts.length <= MAX_NAMES ? counts : counts.toSorted((a, b) => b[1] - a[1]).slice(0, MAX_NAMES);
