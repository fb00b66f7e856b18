/** Fills the slots of a template with given values, outside of any run. */
import type { PromptTemplate } from '../../engine/ports.ts';
import { slot } from './compose-prompt.ts';

export type FilledPrompt =
  | { readonly text: string }
  /** Why it cannot be filled. */
  | { readonly problem: string };

/** The slots that a caller can give a value for. The others are facts of a run. */
export const slotsOf = ({ variables = [] }: PromptTemplate) => variables.filter(({ source }) => source !== 'context');

/** Longest text, in characters. A template may have one slot many times. */
const MAX_TEXT = 262_144;

export function filledPrompt(template: PromptTemplate, given: Readonly<Record<string, string>>): FilledPrompt {
  const slots = slotsOf(template);
  const unknown = Object.keys(given).find((name) => !slots.some((one) => one.name === name));
  if (unknown !== undefined) return { problem: `there is no argument ${JSON.stringify(unknown.slice(0, 80))}` };
  const values = new Map<string, string>();
  for (const { name, required, defaultValue } of slots) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && required) return { problem: `the argument ${name} is missing` };
    values.set(name, value ?? inWords(defaultValue));
  }
  const pieces: string[] = [];
  let length = 0;
  let from = 0;
  for (const match of template.text.matchAll(slot)) {
    const piece = template.text.slice(from, match.index) + (values.get(match[1] ?? '') ?? '');
    length += piece.length;
    if (length > MAX_TEXT) return { problem: `the text would have more than ${MAX_TEXT} characters` };
    pieces.push(piece);
    from = match.index + match[0].length;
  }
  return { text: pieces.join('') + template.text.slice(from) };
}

const inWords = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
