/**
 * Estimates token counts without a tokenizer, to fit conversations and for scripts. Providers report the billed usage.
 */
import type { ModelMessage } from './turn.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Overhead of one message: role, names and separators. */
const PER_MESSAGE = 4;

export const estimatedTokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

export const messagesTokens = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);

function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return PER_MESSAGE + estimatedTokens(message.text.length);
    case 'tool':
      return PER_MESSAGE + estimatedTokens(JSON.stringify(message.output).length + message.name.length);
    case 'assistant':
      return (
        PER_MESSAGE +
        estimatedTokens(message.text.length) +
        message.toolCalls.reduce(
          (sum, { name, input }) => sum + estimatedTokens(name.length + JSON.stringify(input).length),
          0,
        )
      );
  }
}

/** The newest messages that fit. */
export function newest(messages: readonly ModelMessage[], maxTokens: number): readonly ModelMessage[] {
  let tokens = 0;
  let first = messages.length;
  while (first > 0) {
    tokens += messageTokens(messages[first - 1] as ModelMessage);
    if (tokens > maxTokens) break;
    first--;
  }
  return messages.slice(first);
}
