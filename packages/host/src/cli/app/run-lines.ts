/** The lines of runs on the terminal of `cairn dev`. The runs of its demo have none: they would push its link away. */
import type { RunNotice } from '../../server/run-notices.ts';
import { styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';
import { runLine } from './run-line.ts';

type LineTerminal = Pick<Terminal, 'tell' | 'colours' | 'now'>;

export class RunLines {
  readonly #terminal: LineTerminal;
  readonly #silent = new Set<string>();
  /** Notices that arrived while it is unknown whose they are; null if it is known. */
  #held: RunNotice[] | null = null;

  constructor(terminal: LineTerminal) {
    this.#terminal = terminal;
  }

  readonly print = (notice: RunNotice): void => {
    if (this.#held !== null) {
      this.#held.push(notice);
      return;
    }
    const { runId, parentRunId } = notice;
    if (!this.#silent.has(runId) && (parentRunId === null || !this.#silent.has(parentRunId))) {
      this.#terminal.tell(runLine(notice, styleOf(this.#terminal.colours.err), this.#terminal.now()));
      return;
    }
    if (parentRunId === null) return;
    // The demo starts runs for ever, so those that have ended are forgotten.
    if (notice.type === 'run.started') this.#silent.add(runId);
    else this.#silent.delete(runId);
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
