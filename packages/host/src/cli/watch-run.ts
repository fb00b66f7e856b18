/** Sees a run through from this terminal: shows what happens, asks what it asks, and ends when the run does or rests. */
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
import { progressLine } from './render/progress.ts';
import type { Question } from './render/question.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Who tells what happens; null: nothing is said while it runs, and nothing asked. */
  readonly transcript: AgentTranscript | null;
}

/** Gives the run as it was left: ended, or waiting for an answer that nobody here gives. */
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
    // Whoever was asked has left; the run waits on without them.
    const hasLeft = left.signal.aborted && !signal.aborted && isAbort(left.signal.reason);
    if (!hasLeft) throw error;
  } finally {
    below?.stop();
    transcript?.flush();
    person?.turnTo([], () => undefined);
  }
  return await client.runs.get(runId, { signal });
}

/** What a person said was seen as it was typed. */
const isOwnWords = ({ type, payload }: RunEventDoc): boolean =>
  type === 'conversation.exchanged' && (payload as { turn?: { role?: string } }).turn?.role === 'user';

/** Aborted without a reason of its own. */
const isAbort = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'AbortError';

export function foldable(event: RunEventDoc): FoldEvent {
  const { sequence: seq, type, nodeId, payload } = event;
  return typedEvent({ seq, at: Date.parse(event.timestamp), type, nodeId, payload });
}

/** Nothing but an answer will move it: some branches may still be at work while another asks. */
export function isAtRest({ status, nodeStates }: RunSnapshot): boolean {
  const states = Object.values(nodeStates ?? {}) as readonly { readonly status?: unknown }[];
  return (
    status.startsWith('waiting-') && !states.some((node) => node.status === 'running' || node.status === 'retrying')
  );
}

/** Refusals that mean that the question needs no answer any more. */
const settled: ReadonlySet<string> = new Set([
  'interrupt_already_resolved',
  'interrupt_expired',
  'interrupt_cancelled',
  'run_terminal',
]);

/** The person at the terminal, who is asked one question at a time, and not for longer than it is open. */
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

  /** Asks the oldest of the open questions, unless it is being asked. `leave` is called when the person ends the input or cannot answer. */
  turnTo(open: readonly RunView['interrupts'][string][], leave: (error?: unknown) => void): void {
    const [oldest] = open;
    if (this.#asked !== null && !open.some(({ interruptId }) => interruptId === this.#asked?.interruptId)) {
      this.#asked.stop.abort();
      this.#asked = null;
    }
    if (oldest === undefined || this.#asked !== null) return;
    const stop = new AbortController();
    this.#asked = { interruptId: oldest.interruptId, stop };
    this.#ask(oldest, stop.signal).then((isSettled) => {
      if (!isSettled && !stop.signal.aborted) leave();
    }, leave);
  }

  /** False when the person left; true when the question is settled, by them or by somebody else. */
  async #ask(question: Question, signal: AbortSignal): Promise<boolean> {
    let isTold = false;
    for (;;) {
      try {
        const value = await (isTold ? askAgain : askAnswer)(this.#terminal, question, signal);
        if (value === null) return false;
        // Not by the signal: the run goes on with the answer before the answer to this request is here.
        await this.#client.runs.answer(this.#runId, question.interruptId, value);
        // Whether a conversation is over with what was said is seen in its events, which then end the asking.
        if (!leavesOpen(question, value)) return true;
        isTold = true;
      } catch (error) {
        if (signal.aborted) {
          this.#terminal.tell('');
          return true;
        }
        if (!isCairnError(error)) throw error;
        this.#terminal.tell(`  ${safe(error.message)}`);
        if (error.code !== 'validation_error') return settled.has(error.code);
      }
    }
  }
}
