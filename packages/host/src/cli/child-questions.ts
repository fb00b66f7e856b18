/** Shows the questions of child runs while their root run is followed. The root's own events do not contain them. */
import type { Client } from '@cairn/client';
import { type InboxEntry, isCairnError } from '@cairn/protocol';
import { entryName } from './inbox-entries.ts';
import { askerName, pathText, questionText } from './render/inbox-line.ts';
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

  /** Starts to follow the inbox. A run without children never needs it. */
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
      // The inbox is optional here: following the run must not fail because the host or the key has none.
      if (!signal.aborted && !isCairnError(error)) throw error;
    }
  }

  /** Shows each question once, even after a reconnect. */
  #tell(entry: InboxEntry): void {
    const name = entryName(entry);
    const isBelow = entry.path.slice(0, -1).some(({ runId }) => runId === this.#runId);
    if (!isBelow || this.#told.has(name)) return;
    this.#told.add(name);
    const style = styleOf(this.#terminal.colours.err);
    const { mark } = lookOf('suspended', style);
    this.#terminal.tell(`${mark} ${style.bold(askerName(entry))} asks: ${questionText(entry, 400)}`);
    this.#terminal.tell(`    ${style.dim(pathText(entry))}   answer with: cairn answer ${safe(name)}`);
  }
}
