/** Tells what is asked in runs below the one that is watched, whose own events do not say so. */
import type { Client } from '@cairn/client';
import { type InboxEntry, isCairnError } from '@cairn/protocol';
import { entryName } from './inbox-entries.ts';
import { asked, way, whoAsks } from './render/inbox-line.ts';
import { lookOf } from './render/status.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export class ChildQuestions {
  readonly #terminal: Terminal;
  readonly #client: Client;
  readonly #runId: string;
  readonly #stop = new AbortController();
  readonly #told = new Set<string>();
  #isWatching = false;

  constructor(terminal: Terminal, client: Client, runId: string) {
    this.#terminal = terminal;
    this.#client = client;
    this.#runId = runId;
  }

  /** From now on; a run that starts no other never asks for the inbox. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    try {
      for await (const change of this.#client.inbox.watch({ signal })) {
        if (change.type === 'snapshot') for (const entry of change.entries) this.#tell(entry);
        else if (change.type === 'added') this.#tell(change.entry);
      }
    } catch (error) {
      // The run is what is watched: a host that has no inbox, or not for this key, is no fault of it.
      if (!signal.aborted && !isCairnError(error)) throw error;
    }
  }

  /** Each once, whatever becomes of the connection. */
  #tell(entry: InboxEntry): void {
    const name = entryName(entry);
    const isBelow = entry.path.slice(0, -1).some(({ runId }) => runId === this.#runId);
    if (!isBelow || this.#told.has(name)) return;
    this.#told.add(name);
    const style = styleOf(this.#terminal.colours.err);
    const { mark } = lookOf('suspended', style);
    this.#terminal.tell(`${mark} ${style.bold(whoAsks(entry))} asks: ${asked(entry, 400)}`);
    this.#terminal.tell(`    ${style.dim(way(entry))}   answer it with: cairn answer ${safe(name)}`);
  }
}
