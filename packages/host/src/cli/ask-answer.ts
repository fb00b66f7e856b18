/** Asks the person at the terminal what a run wants to know. */
import { isCairnError, type Json } from '@cairn/protocol';
import { answerValue } from './answer-value.ts';
import { actionsOf, actionWords, type Question, questionLines, questionsOf } from './render/question.ts';
import { safe, styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

/** The answer; null when the person ended the input. What is no answer is explained and asked again. */
export async function askAnswer(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const style = styleOf(terminal.colours.err);
  for (const line of questionLines(question, style)) terminal.tell(line);
  for (;;) {
    try {
      return await asked(terminal, question, signal);
    } catch (error) {
      if (!isCairnError(error, 'validation_error')) throw error;
      terminal.tell(`  ${style.red(safe(error.message))} ${safe(error.hint ?? '')}`);
    }
  }
}

/** What else an action needs to be an answer, as a question to the person. */
const needed: Readonly<Record<string, { readonly asks: string; readonly as: 'feedback' | 'edited' }>> = {
  refine: { asks: 'what should change?', as: 'feedback' },
  edit: { asks: 'the decision instead, as JSON', as: 'edited' },
  use: { asks: 'the result to use, as JSON', as: 'edited' },
};

async function askedAction(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const said = await terminal.ask(`  ${actionWords(question, ' / ')} > `, signal);
  if (said === null) return null;
  const word = said.trim();
  const action = word === '' ? undefined : actionsOf(question).find((name) => name.startsWith(word));
  const more = action === undefined || !Object.hasOwn(needed, action) ? undefined : needed[action];
  const rest = more === undefined ? undefined : await terminal.ask(`  ${more.asks} > `, signal);
  if (rest === null) return null;
  return answerValue(question, { words: [word], ...(more === undefined ? {} : { [more.as]: rest }) });
}

async function asked(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const { kind, data } = question;
  if (actionsOf(question).length > 0) return askedAction(terminal, question, signal);
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
