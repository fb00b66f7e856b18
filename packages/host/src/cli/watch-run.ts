/** Follows a run in a terminal: shows its progress, asks its questions, and stops when the run ends or waits. */
import type { Client } from '@cairn/client';
import {
  type FoldEvent,
  foldRun,
  isCairnError,
  isTerminalStatus,
  newRunView,
  type RunEventDoc,
  type RunId,
  type RunSnapshot,
  type RunView,
  typedEvent,
} from '@cairn/protocol';
import { askAgain, askAnswer, leavesOpen } from './ask-answer.ts';
import { ChildQuestions } from './child-questions.ts';
import type { AgentTranscript } from './render/agent-transcript.ts';
import { fieldsOf } from './render/fields.ts';
import { progressLine } from './render/progress.ts';
import type { Question } from './render/question.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Shows the progress; null: show nothing and ask nothing. */
  readonly transcript: AgentTranscript | null;
}

/** Returns the run when it has ended, or when it waits for an answer that nobody gives here. */
export async function watchRun(
  terminal: Terminal,
  client: Client,
  runId: string,
  { signal, transcript }: WatchOptions,
): Promise<RunSnapshot> {
  const view = newRunView(runId as RunId);
  const style = styleOf(terminal.colours.err);
  const person = terminal.isInteractive && transcript !== null ? new Person(terminal, client, runId) : null;
  const below = transcript === null ? null : new ChildQuestions(terminal, client, runId);
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  try {
    for await (const event of client.follow(runId, { signal: stop })) {
      foldRun(view, foldable(event));
      if (transcript !== null && !(person !== null && isOwnWords(event)) && !transcript.add(event)) {
        const line = progressLine(event, view, style);
        if (line !== null) transcript.addLine(event.nodeId ?? '', line);
      }
      if (event.type === 'node.dispatched') below?.watch();
      if (isTerminalStatus(view.status)) break;
      const waiting = Object.values(view.interrupts).filter(({ suspended }) => suspended);
      if (waiting.length > 0) transcript?.flush();
      if (person !== null) person.turnTo(waiting, (error) => left.abort(error));
      else if (waiting.length > 0 && waiting.length === view.activeNodes) {
        const snapshot = await client.runs.get(runId, { signal });
        if (isAtRest(snapshot)) return snapshot;
      }
    }
  } catch (error) {
    // The person ended the input. The run keeps waiting.
    const hasLeft = left.signal.aborted && !signal.aborted && isAbort(left.signal.reason);
    if (!hasLeft) throw error;
  } finally {
    below?.stop();
    transcript?.flush();
    person?.turnTo([], () => undefined);
  }
  return await client.runs.get(runId, { signal });
}

/** The person has just typed this turn, so it is already on the screen. */
const isOwnWords = ({ type, payload }: RunEventDoc): boolean =>
  type === 'conversation.exchanged' && fieldsOf(fieldsOf(payload).turn).role === 'user';

/** Whether an abort had no specific reason. */
const isAbort = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'AbortError';

export function foldable(event: RunEventDoc): FoldEvent {
  const { sequence: seq, type, nodeId, payload } = event;
  return typedEvent({ seq, at: Date.parse(event.timestamp), type, nodeId, payload });
}

/** Whether only an answer can move the run. While one branch asks, other branches may still run. */
export function isAtRest({ status, nodeStates }: RunSnapshot): boolean {
  const states = Object.values(nodeStates ?? {}).map((node) => fieldsOf(node).status);
  return status.startsWith('waiting-') && !states.some((state) => state === 'running' || state === 'retrying');
}

/** Errors that mean that the question needs no answer any more. */
const noLongerOpen: ReadonlySet<string> = new Set([
  'interrupt_already_resolved',
  'interrupt_expired',
  'interrupt_cancelled',
  'run_terminal',
]);

/** Asks the person at the terminal one question at a time, only while the question is open. */
class Person {
  readonly #terminal: Terminal;
  readonly #client: Client;
  readonly #runId: string;
  #asked: { readonly interruptId: string; readonly stop: AbortController } | null = null;

  constructor(terminal: Terminal, client: Client, runId: string) {
    this.#terminal = terminal;
    this.#client = client;
    this.#runId = runId;
  }

  /** Asks the oldest open question, unless it is already asking one. Calls `leave` if the person ends the input or cannot answer. */
  turnTo(open: readonly RunView['interrupts'][string][], leave: (error?: unknown) => void): void {
    const [oldest] = open;
    if (this.#asked !== null && !open.some(({ interruptId }) => interruptId === this.#asked?.interruptId)) {
      this.#asked.stop.abort();
      this.#asked = null;
    }
    if (oldest === undefined || this.#asked !== null) return;
    const stop = new AbortController();
    this.#asked = { interruptId: oldest.interruptId, stop };
    this.#ask(oldest, stop.signal).then((isDone) => {
      if (!isDone && !stop.signal.aborted) leave();
    }, leave);
  }

  /** False if the person ended the input; true if the question is answered or no longer open. */
  async #ask(question: Question, signal: AbortSignal): Promise<boolean> {
    let isShown = false;
    for (;;) {
      try {
        const value = await (isShown ? askAgain : askAnswer)(this.#terminal, question, signal);
        if (value === null) return false;
        // Without the signal: the run may continue before the response arrives, and that aborts the signal.
        await this.#client.runs.answer(this.#runId, question.interruptId, value);
        // The events of the run show whether this turn ends a conversation.
        if (!leavesOpen(question, value)) return true;
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
}
