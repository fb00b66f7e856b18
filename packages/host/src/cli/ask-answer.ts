/** Asks the person at the terminal the question of a run. */
import { isCairnError, type Json } from '@cairn/protocol';
import { answerValue } from './answer-value.ts';
import { actionNamed } from './answer-words.ts';
import { fieldsOf } from './render/fields.ts';
import {
  actionsOf,
  actionWords,
  isConversation,
  type Question,
  questionLines,
  questionsOf,
} from './render/question.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

/** Shows the question and asks until the answer is valid. Null if the person ended the input. */
export async function askAnswer(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  for (const line of questionLines(question, styleOf(terminal.colours.err))) terminal.tell(line);
  return askAgain(terminal, question, signal);
}

/** Like `askAnswer`, without showing the question again. */
export async function askAgain(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const style = styleOf(terminal.colours.err);
  for (;;) {
    try {
      return await asked(terminal, question, signal);
    } catch (error) {
      if (!isCairnError(error, 'validation_error')) throw error;
      terminal.tell(`  ${style.red(safe(error.message))} ${safe(error.hint ?? '')}`);
    }
  }
}

interface More {
  readonly asks: string;
  readonly as: 'feedback' | 'edited';
}

/** What else to ask the person for an action. */
const needed: Readonly<Record<string, More>> = {
  refine: { asks: 'what should change?', as: 'feedback' },
  edit: { asks: 'the new decision, as JSON', as: 'edited' },
  use: { asks: 'the result to use, as JSON', as: 'edited' },
};

/** An agent continues after a rejection, so a reason helps it. */
const why: More = { asks: 'reason, or what to change (Enter to skip)', as: 'feedback' };

function moreOf({ kind }: Question, action: string | undefined): More | undefined {
  if (action === 'reject' && kind === 'low-confidence') return why;
  return action !== undefined && Object.hasOwn(needed, action) ? needed[action] : undefined;
}

async function askedAction(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const said = await terminal.ask(`  ${actionWords(question, ' / ')} > `, signal);
  if (said === null) return null;
  const word = said.trim();
  const action = actionNamed(question, actionsOf(question), word);
  const more = moreOf(question, action);
  const rest = more === undefined ? undefined : await terminal.ask(`  ${more.asks} > `, signal);
  if (rest === null) return null;
  const isGiven = more !== undefined && (more !== why || rest !== '');
  return answerValue(question, { words: [word], ...(isGiven ? { [more.as]: rest } : {}) });
}

async function asked(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const { kind, data } = question;
  if (actionsOf(question).length > 0) return askedAction(terminal, question, signal);
  if (isConversation(question)) {
    const said = await terminal.ask('  > ', signal);
    return said === null ? null : answerValue(question, { words: [said] });
  }
  if (kind !== 'clarification') {
    const text = await terminal.ask('  JSON > ', signal);
    return text === null ? null : answerValue(question, { words: [], value: text });
  }
  const words: string[] = [];
  for (const { id } of questionsOf(data)) {
    const text = await terminal.ask(`  ${safe(id)} > `, signal);
    if (text === null) return null;
    words.push(`${id}=${text}`);
  }
  return answerValue(question, { words });
}

/** Whether the question stays open after this answer, as in a conversation. */
export const leavesOpen = (question: Question, value: Json): boolean =>
  isConversation(question) && fieldsOf(value).operation === 'exchange';
