/** The words that mean the same in an answer: `accept` and `approve`, `yes` and `true`, and their opposites. */
import { isInterruptedStep, type Question } from './render/question.ts';

const yes = ['yes', 'y', 'true', 'accept', 'approve', 'ok'];
const no = ['no', 'n', 'false', 'reject', 'deny'];

/** What a word says to a question of yes or no; undefined if it says neither. */
export function truthOf(word: string): boolean | undefined {
  const said = word.trim().toLowerCase();
  if (said === 'accept' || said === 'approve' || said === 'reject') return undefined;
  return yes.includes(said) ? true : no.includes(said) ? false : undefined;
}

/** The offered action that a word names: itself, a unique beginning of it, or another word for it. */
export function actionNamed(question: Question, offered: readonly string[], word: string): string | undefined {
  const said = word.trim().toLowerCase();
  if (said === '') return undefined;
  if (offered.includes(said)) return said;
  const begun = offered.filter((name) => name.startsWith(said));
  if (begun.length === 1) return begun[0];
  // The question is whether the call was carried out.
  if (isInterruptedStep(question)) return { true: 'use', false: 'retry' }[String(truthOf(said))];
  return sameAs(said, offered);
}

/** The one of these values that means the same as the word. */
export const sameAs = (word: string, values: readonly string[]): string | undefined =>
  [yes, no].find((words) => words.includes(word))?.find((other) => values.includes(other));
