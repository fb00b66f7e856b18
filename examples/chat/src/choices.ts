/** The answers that a question offers. */
import type { Context } from '@cairn/client/context';

export type Json = Parameters<Context['answer']>[1];

export interface Choice {
  readonly value: Json;
  readonly label: string;
  readonly description?: string;
}

/** Options are values, or values with a label. */
export const choicesOf = (options: readonly unknown[] = []): readonly Choice[] =>
  options.map((option) => {
    if (typeof option === 'object' && option !== null && 'value' in option) {
      const { value, label, description } = option as Partial<Choice> & { readonly value: Json };
      return { value, label: label ?? String(value), ...(description !== undefined && { description }) };
    }
    return { value: option as Json, label: String(option) };
  });
