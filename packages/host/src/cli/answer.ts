/** `cairn answer`: answers a question of a run, at any depth in a tree of runs. */
import type { Client } from '@cairn/client';
import {
  type InboxEntry,
  type InterruptAnswered,
  isCairnError,
  isTerminalStatus,
  type Json,
  TerminalError,
} from '@cairn/protocol';
import { answerValue } from './answer-value.ts';
import { askAgain, askAnswer, leavesOpen } from './ask-answer.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { below, entryName, namedEntry } from './inbox-entries.ts';
import { openQuestions } from './open-questions.ts';
import { answerCommand, type Question, questionLines } from './render/question.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface AnswerFlags extends HostFlags {
  readonly node?: string;
  readonly value?: string;
  readonly feedback?: string;
}

export function answer(
  terminal: Terminal,
  name: string,
  words: readonly string[],
  flags: AnswerFlags,
): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const { runId, question } = await found(client, name, flags.node);
    const isGiven = words.length > 0 || flags.value !== undefined;
    const stop = new AbortController();
    if (!isGiven) terminal.onSignal(() => stop.abort());
    if (!isGiven && question.refusal !== undefined) throw refused(terminal, question, question.refusal.message);
    if (!isGiven && !terminal.isInteractive) throw noAnswer(terminal, runId, question);
    const send = (value: Json) => client.runs.answer(runId, question.interruptId, value);
    try {
      const answered = isGiven
        ? await send(answerValue(question, { words, value: flags.value, feedback: flags.feedback }))
        : await answeredHere(terminal, question, {
            signal: stop.signal,
            send,
            next: () => open(client, runId, question),
          });
      if (answered === null) return exit.waiting;
      if (flags.json === true) terminal.print(jsonLine(answered));
      else {
        const { mark, paint } = lookOf(answered.status, styleOf(terminal.colours.out));
        const which = runId === name ? 'the run' : `the run ${safe(runId)}`;
        const done = (await voteOn(client, runId, question)) ?? `${safe(answered.nodeId)} is answered`;
        terminal.print(`${mark} ${done}; ${which} is ${paint(answered.status)}`);
      }
      return exit.ok;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return exit.interrupted;
    }
  });
}

interface Asking {
  readonly signal: AbortSignal;
  readonly send: (value: Json) => Promise<InterruptAnswered>;
  /** The current question; undefined when it is closed. */
  readonly next: () => Promise<Question | undefined>;
}

/**
 * Asks until the host accepts the answer. A conversation continues until it is closed or the person ends the input.
 * Null if the person ended the input without an answer.
 */
async function answeredHere(terminal: Terminal, first: Question, { signal, send, next }: Asking) {
  let question = first;
  let isShown = false;
  let answered: InterruptAnswered | null = null;
  for (;;) {
    const value: Json | null = await (isShown ? askAgain : askAnswer)(terminal, question, signal);
    if (value === null) return answered;
    try {
      answered = await send(value);
      const later: Question | undefined = leavesOpen(question, value) ? await next() : undefined;
      if (later === undefined) return answered;
      isShown = later.data.prompt === question.data.prompt;
      question = later;
    } catch (error) {
      if (!isCairnError(error, 'validation_error')) throw error;
      terminal.tell(`  ${styleOf(terminal.colours.err).red(safe(error.message))}`);
    }
  }
}

/** What a vote did that did not decide yet; null for every other answer. */
async function voteOn(
  client: Client,
  runId: string,
  { interruptId, nodeId, quorum }: Question,
): Promise<string | null> {
  if (quorum === undefined || quorum.required < 2) return null;
  const left = (await client.interrupts.ofRun(runId)).find((one) => one.interruptId === interruptId)?.quorum;
  if (left === undefined) return null;
  return `your vote on ${safe(nodeId)} counts, ${left.approvals} of ${left.required} approved`;
}

const open = async (client: Client, runId: string, { interruptId }: Question): Promise<Question | undefined> =>
  (await client.interrupts.ofRun(runId)).find((one) => one.interruptId === interruptId);

interface Found {
  readonly runId: string;
  readonly question: Question;
}

/** Finds a question by its number or name in the inbox, or the question of a run, or the only question below it. */
async function found(client: Client, word: string, node: string | undefined): Promise<Found> {
  const entry = await namedEntry(client, word);
  if (entry !== null) return { runId: entry.runId, question: await asked(client, entry) };
  const name = await runNamed(client, word);
  const run = await client.runs.get(name);
  const question = chosen(name, await openQuestions(client, run), node);
  if (question !== undefined) return { runId: name, question };
  const lower = isTerminalStatus(run.status) ? [] : await below(client, name);
  const matching = lower.filter(({ nodeId }) => node === undefined || nodeId === node);
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return { runId: only.runId, question: await asked(client, only) };
  if (matching.length > 1) {
    const names = matching.slice(0, 5).map((one) => safe(entryName(one)));
    throw usageError(`Runs below ${name} have ${matching.length} open questions.`, `Name one: ${names.join(', ')}.`);
  }
  throw new TerminalError(isTerminalStatus(run.status) ? 'run_terminal' : 'interrupt_not_found', {
    message: `Run ${name} is ${run.status} and has no open question.`,
    hint: `"cairn show ${name}" shows its state.`,
  });
}

/** The complete, current question: the inbox cuts a large one and does not say whether the caller may answer. */
async function asked(client: Client, entry: InboxEntry): Promise<Question> {
  const { interruptId, nodeId, kind } = entry;
  const question = await open(client, entry.runId, { interruptId, nodeId, kind, data: {} });
  if (question !== undefined) return question;
  throw new TerminalError('interrupt_already_resolved', {
    message: `The question ${entryName(entry)} is no longer open.`,
    hint: `"cairn show ${entry.runId}" shows how it was answered.`,
  });
}

/** The question of the given node, or the only one. */
function chosen(runId: string, questions: readonly Question[], node: string | undefined): Question | undefined {
  if (node === undefined) {
    if (questions.length <= 1) return questions[0];
    const nodes = questions.map(({ nodeId }) => nodeId).join(', ');
    throw usageError(`Run ${runId} has ${questions.length} open questions: ${nodes}.`, 'Choose one with --node.');
  }
  const found = questions.find(({ nodeId, interruptId }) => nodeId === node || interruptId === node);
  if (found !== undefined || questions.length === 0) return found;
  const nodes = questions.map(({ nodeId }) => nodeId).join(', ');
  throw new TerminalError('interrupt_not_found', {
    message: `Node ${node} of run ${runId} has no open question.`,
    hint: `These nodes do: ${nodes}.`,
  });
}

/** Shows the question to a caller who may not answer it, with those who may. */
function refused(terminal: Terminal, question: Question, message: string): Error {
  const { refusal: _, ...shown } = question;
  for (const line of questionLines(shown, styleOf(terminal.colours.err))) terminal.tell(line);
  return new TerminalError('forbidden', { message, hint: 'Others have to answer; "cairn inbox" lists what waits.' });
}

function noAnswer({ env }: Terminal, runId: string, question: Question): Error {
  const style = styleOf(false, env);
  const [asked = ''] = questionLines(question, style);
  return usageError(
    `The answer is missing. ${asked.replace(/^\? /, '')}`,
    `Run: ${answerCommand(style, runId, question)}`,
  );
}
