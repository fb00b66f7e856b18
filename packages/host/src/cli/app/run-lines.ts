/** The lines of runs on the terminal of `cairn dev`. The runs of its demo have none: they would push its link away. */
import type { RunNotice } from '../../server/run-notices.ts';
import { styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { runLine } from './run-line.ts';

export class RunLines {
  readonly #terminal: Terminal;
  readonly #silent = new Set<string>();
  /** Notices that arrived while it is unknown whose they are; null if it is known. */
  #held: RunNotice[] | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  readonly print = (notice: RunNotice): void => {
    if (this.#held !== null) {
      this.#held.push(notice);
      return;
    }
    const { runId, parentRunId } = notice;
    if (parentRunId !== null && this.#silent.has(parentRunId)) this.#silent.add(runId);
    if (!this.#silent.has(runId))
      this.#terminal.tell(runLine(notice, styleOf(this.#terminal.colours.err), this.#terminal.now()));
  };

  /** Starts runs that get no lines, nor do the runs below them. Returns whether there are any. */
  async without(start: () => Promise<readonly string[]>): Promise<boolean> {
    this.#held = [];
    for (const runId of await start()) this.#silent.add(runId);
    const held = this.#held;
    this.#held = null;
    for (const notice of held) this.print(notice);
    return this.#silent.size > 0;
  }
}
