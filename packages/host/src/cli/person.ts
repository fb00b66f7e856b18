/** Asks the person at the terminal the open questions of a run and of the runs below it, one at a time. */
import type { Client } from '@cairn/client';
import { isCairnError, type OpenInterrupt } from '@cairn/protocol';
import { askAgain, askAnswer, leavesOpen } from './ask-answer.ts';
import { questionLines } from './render/question.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

/** A question that waits, and the run that asks it. */
export interface Waiting {
  readonly runId: string;
  readonly interruptId: string;
  /** Names the run if it is a child run; else empty. */
  readonly heading: string;
}

/** Errors that mean that the question needs no answer any more. */
const noLongerOpen: ReadonlySet<string> = new Set([
  'interrupt_not_found',
  'interrupt_already_resolved',
  'interrupt_expired',
  'interrupt_cancelled',
  'run_terminal',
]);

const keyOf = ({ runId, interruptId }: Pick<Waiting, 'runId' | 'interruptId'>): string => `${runId}/${interruptId}`;

export class Person {
  readonly #terminal: Terminal;
  readonly #client: Client;
  #asked: { readonly key: string; readonly stop: AbortController } | null = null;
  /** Questions that this person answered, although they stay open: others have to vote, too. */
  readonly #voted = new Set<string>();
  /** Questions that this person may not answer. */
  readonly #refused = new Set<string>();

  constructor(terminal: Terminal, client: Client) {
    this.#terminal = terminal;
    this.#client = client;
  }

  /** Whether others have to answer all of these, so that nothing is left to do here. */
  cannotAnswer(open: readonly Waiting[]): boolean {
    return open.length > 0 && open.every((one) => this.#refused.has(keyOf(one)));
  }

  /**
   * Asks the oldest open question, unless it is already asking one. Calls `next` when one is done, and `leave` if the
   * person ends the input.
   */
  turnTo(open: readonly Waiting[], next: () => void, leave: (error?: unknown) => void): void {
    if (this.#asked !== null && !open.some((one) => keyOf(one) === this.#asked?.key)) {
      this.#asked.stop.abort();
      this.#asked = null;
    }
    if (this.#asked !== null) return;
    const oldest = open.find((one) => !this.#voted.has(keyOf(one)) && !this.#refused.has(keyOf(one)));
    if (oldest === undefined) return;
    const stop = new AbortController();
    const asked = { key: keyOf(oldest), stop };
    this.#asked = asked;
    this.#ask(oldest, stop.signal).then((isDone) => {
      if (stop.signal.aborted) return;
      if (!isDone) leave();
      if (this.#asked === asked) this.#asked = null;
      next();
    }, leave);
  }

  /** False if the person ended the input; true if the question is answered, no longer open, or for others. */
  async #ask(waiting: Waiting, signal: AbortSignal): Promise<boolean> {
    let isShown = false;
    let question: OpenInterrupt | null = null;
    for (;;) {
      try {
        question ??= await this.#open(waiting, signal);
        if (question === null) return true;
        if (!isShown && waiting.heading !== '') this.#terminal.tell(waiting.heading);
        if (question.refusal !== undefined) return this.#tellRefused(waiting, question);
        const value = await (isShown ? askAgain : askAnswer)(this.#terminal, question, signal);
        if (value === null) return false;
        // Without the signal: the run may continue before the response arrives, and that aborts the signal.
        await this.#client.runs.answer(waiting.runId, waiting.interruptId, value);
        // The events of the run show whether this turn ends a conversation.
        if (!leavesOpen(question, value)) {
          this.#voted.add(keyOf(waiting));
          return true;
        }
        isShown = true;
      } catch (error) {
        if (signal.aborted) {
          this.#terminal.tell('');
          return true;
        }
        if (!isCairnError(error)) throw error;
        this.#terminal.tell(`  ${safe(error.message)}`);
        if (error.code !== 'validation_error') return noLongerOpen.has(error.code);
      }
    }
  }

  /** The question with the votes so far; null if it was answered elsewhere. */
  async #open({ runId, interruptId }: Waiting, signal: AbortSignal): Promise<OpenInterrupt | null> {
    const open = await this.#client.interrupts.ofRun(runId, { signal });
    return open.find((one) => one.interruptId === interruptId) ?? null;
  }

  #tellRefused(waiting: Waiting, question: OpenInterrupt): true {
    for (const line of questionLines(question, styleOf(this.#terminal.colours.err))) this.#terminal.tell(line);
    this.#refused.add(keyOf(waiting));
    return true;
  }
}
