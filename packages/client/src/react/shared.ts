/** One connection for each conversation, run and inbox of a client, however many components show it. */
import type { Live, LiveStatus } from '../live/live-store.ts';

/** Connections that nobody shows now. They keep what they know, so that going back shows it at once. */
const MAX_IDLE = 16;

export class Shared<Shown extends Live<LiveStatus>> {
  /** They go with their client. */
  readonly #clients = new WeakMap<object, Map<string, Shown>>();

  of(client: object, key: string, make: () => Shown): Shown {
    const known = this.#clients.get(client)?.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.add(client, key, made);
    return made;
  }

  add(client: object, key: string, shown: Shown): void {
    const all = this.#clients.get(client) ?? new Map<string, Shown>();
    this.#clients.set(client, all);
    const idle = [...all].filter(([, one]) => one.getSnapshot().connection === 'idle');
    for (const [old] of idle.slice(0, Math.max(0, idle.length - MAX_IDLE))) all.delete(old);
    all.set(key, shown);
  }
}
