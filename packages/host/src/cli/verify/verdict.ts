/** Collects what a verification found, and prints it. */
import { exit } from '../exit.ts';
import { lookOf } from '../render/status.ts';
import { jsonLine, safe, styleOf } from '../render/style.ts';
import type { Terminal } from '../terminal.ts';

export interface Found {
  /** Null for a problem of the whole file or folder. */
  readonly runId: string | null;
  /** The event; null if the problem is not in one. */
  readonly seq: number | null;
  readonly message: string;
}

/** The checkpoint that the runs were compared with. */
export interface Compared {
  readonly at: string;
  readonly publicKey: string;
  /** Runs of the checkpoint that were compared. */
  readonly runs: number;
}

/** Problems that are listed; the others are counted. */
const LISTED_PROBLEMS = 100;
const LISTED_DOUBTS = 20;

/** Events between two lines of progress. */
const PROGRESS_EVENTS = 100_000;

export class Verdict {
  readonly #terminal: Terminal;
  readonly #problems: Found[] = [];
  readonly #doubts: string[] = [];
  #problemCount = 0;
  #doubtCount = 0;
  runId: string | null = null;
  runs = 0;
  events = 0;
  /** Events whose content was retired; their hashes were checked. */
  retired = 0;
  /** Of the last event of the only run, or of the first run of a bundle. */
  hash: string | null = null;
  compared: Compared | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get isOk(): boolean {
    return this.#problemCount === 0;
  }

  problem(found: Found): void {
    this.#problemCount += 1;
    if (this.#problems.length < LISTED_PROBLEMS) this.#problems.push(found);
  }

  /** A finding that need not be damage. */
  doubt(message: string): void {
    this.#doubtCount += 1;
    if (this.#doubts.length < LISTED_DOUBTS) this.#doubts.push(message);
  }

  /** Counts a row. Tells a person who waits how far it is. */
  row(): void {
    this.events += 1;
    if (this.events % PROGRESS_EVENTS === 0 && this.#terminal.columns !== null)
      this.#terminal.tell(`… ${this.events} events checked`);
  }

  /** Returns the exit code. */
  print(name: string, isJson: boolean): number {
    const { runId, runs, events, retired, hash, compared: checkpoint } = this;
    const problems = this.#problems;
    if (isJson) {
      const [first] = problems;
      const counts = { runs, events, retired, hash, problem: first?.message ?? null };
      const lists = { problems, problemCount: this.#problemCount, doubts: this.#doubts, checkpoint };
      this.#terminal.print(jsonLine({ ok: this.isOk, runId, ...counts, ...lists }));
    } else this.#printText(name);
    return this.isOk ? exit.ok : exit.failed;
  }

  #printText(name: string): void {
    const print = (line: string): void => this.#terminal.print(line);
    const style = styleOf(this.#terminal.colours.out);
    const { mark } = lookOf(this.isOk ? 'completed' : 'failed', style);
    const what = this.runId === null ? safe(name) : safe(this.runId);
    const runs = this.runs === 1 ? '' : `${this.runs} runs, `;
    const retired = this.retired === 0 ? '' : `, the content of ${this.retired} was retired`;
    if (this.isOk) print(`${mark} ${what}: ${runs}${this.events} events, all hashes are valid${retired}`);
    else
      print(`${mark} ${what}: invalid; ${this.#problemCount === 1 ? '1 problem' : `${this.#problemCount} problems`}`);
    for (const { runId, message } of this.#problems)
      print(`  ${runId === null || runId === this.runId ? '' : `${safe(runId)}: `}${safe(message)}`);
    if (this.#problemCount > this.#problems.length) print(`  and ${this.#problemCount - this.#problems.length} more`);
    for (const doubt of this.#doubts) print(`${style.yellow('!')} ${safe(doubt)}`);
    if (this.#doubtCount > this.#doubts.length) print(`! and ${this.#doubtCount - this.#doubts.length} more`);
    if (this.isOk && this.hash !== null) print(`  last hash ${this.hash}`);
    if (this.isOk && this.compared !== null)
      print(`  agrees with the checkpoint of ${this.compared.at}, runs compared: ${this.compared.runs}`);
  }
}
