/** `cairn answer`: tells a run what it asked. */
import { isTerminalStatus, TerminalError } from '@cairn/protocol';
import { answerValue } from './answer-value.ts';
import { askAnswer } from './ask-answer.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { openQuestions } from './open-questions.ts';
import { answerCommand, type Question, questionLines } from './render/question.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

export interface AnswerFlags extends HostFlags {
  readonly node?: string;
  readonly value?: string;
  readonly feedback?: string;
}

export function answer(
  terminal: Terminal,
  runId: string,
  words: readonly string[],
  flags: AnswerFlags,
): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const run = await client.runs.get(runId);
    const questions = await openQuestions(client, run);
    const question = chosen(runId, questions, flags.node);
    if (question === undefined) {
      throw new TerminalError(isTerminalStatus(run.status) ? 'run_terminal' : 'interrupt_not_found', {
        message: `Run ${runId} is ${run.status} and asks nothing.`,
        hint: `cairn show ${runId} says where it stands.`,
      });
    }
    const isSaid = words.length > 0 || flags.value !== undefined;
    const stop = new AbortController();
    if (!isSaid) terminal.onSignal(() => stop.abort());
    if (!isSaid && !terminal.isInteractive) throw noAnswer(runId, question);
    try {
      const value = isSaid
        ? answerValue(question, { words, value: flags.value, feedback: flags.feedback })
        : await askAnswer(terminal, question, stop.signal);
      if (value === null) return exit.waiting;
      const answered = await client.runs.answer(runId, question.interruptId, value);
      if (flags.json === true) terminal.print(jsonLine(answered));
      else {
        const { mark, paint } = lookOf(answered.status, styleOf(terminal.colours.out));
        terminal.print(`${mark} ${safe(answered.nodeId)} is answered; the run is ${paint(answered.status)}`);
      }
      return exit.ok;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return exit.interrupted;
    }
  });
}

/** The one that was named, or the only one. */
function chosen(runId: string, questions: readonly Question[], node: string | undefined): Question | undefined {
  if (node === undefined) {
    if (questions.length <= 1) return questions[0];
    const nodes = questions.map(({ nodeId }) => nodeId).join(', ');
    throw usageError(`Run ${runId} asks ${questions.length} things: ${nodes}.`, 'Say which with --node.');
  }
  const found = questions.find(({ nodeId, interruptId }) => nodeId === node || interruptId === node);
  if (found !== undefined || questions.length === 0) return found;
  const nodes = questions.map(({ nodeId }) => nodeId).join(', ');
  throw new TerminalError('interrupt_not_found', {
    message: `Node ${node} of run ${runId} asks nothing.`,
    hint: `These do: ${nodes}.`,
  });
}

function noAnswer(runId: string, question: Question): Error {
  const [asked = ''] = questionLines(question, styleOf(false));
  return usageError(`No answer is given. ${asked.replace(/^\? /, '')}`, `Say it: ${answerCommand(runId, question)}`);
}
