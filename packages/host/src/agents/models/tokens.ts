/** How many tokens a text may have: an estimate that needs no vocabulary, for budgets and scripts. Bills are the provider's to count. */
import type { ModelMessage } from './turn.ts';

const CHARACTERS_PER_TOKEN = 4;
/** Role, names and separators of one message. */
const PER_MESSAGE = 4;

export const estimatedTokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

export const messagesTokens = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);

export function messageTokens(message: ModelMessage): number {
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
