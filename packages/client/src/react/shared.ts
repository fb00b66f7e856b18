/** One connection for each conversation, run and inbox of a client, however many components show it. */
import type { Live, LiveStatus } from '../live/live-store.ts';

/** Connections that nobody shows now. They keep what they know, so that going back shows it at once. */
const MAX_IDLE = 16;

/** Those that nobody showed yet: React may give up what it renders. A long list begins with all of its rows at once. */
const MAX_NEW = 1_000;

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
    const isNew = ([, one]: (typeof idle)[number]) => one.getSnapshot() === one.getInitialSnapshot();
    drop(idle.filter((one) => !isNew(one)).slice(0, -MAX_IDLE));
    drop(idle.filter(isNew).slice(0, -MAX_NEW));
    all.set(key, shown);

    function drop(old: typeof idle): void {
      for (const [name] of old) all.delete(name);
    }
  }
}
