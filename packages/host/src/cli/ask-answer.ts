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

async function asked(terminal: Terminal, question: Question, signal: AbortSignal): Promise<Json | null> {
  const { kind, data } = question;
  if (kind === 'approval') {
    const word = await terminal.ask(`  ${actionWords(data, ' / ')} > `, signal);
    if (word === null) return null;
    const isRefine = word.trim() !== '' && 'refine'.startsWith(word.trim()) && actionsOf(data).includes('refine');
    const feedback = isRefine ? await terminal.ask('  what should change? > ', signal) : undefined;
    return feedback === null ? null : answerValue(question, { words: [word.trim()], feedback });
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
