/** Keeps what the client wrote where it stands: its ids, and answers that the events of a task do not hold. */
import type { Message } from '@ag-ui/core';
import type { RunInput } from './run-input.ts';

type Known = RunInput['messages'][number];

/**
 * A client keeps the messages that it has at their place, and puts the others after them. So the messages that both have
 * keep the ids of the client while they come in the same order. Of those that the host does not have, what the user said
 * stays.
 */
export function withKnown(messages: readonly Message[], known: readonly Known[]): Message[] {
  const result: Message[] = [];
  let place = 0;
  for (const one of known) {
    // Clients have activities too, but do not send them.
    for (let next = messages[place]; next?.role === 'activity'; next = messages[place]) {
      result.push(next);
      place += 1;
    }
    const next = messages[place];
    if (next !== undefined && isSame(next, one)) {
      result.push({ ...next, id: one.id });
      place += 1;
    } else if (messages.some((message, at) => at > place && isSame(message, one))) break;
    // What comes before the first common message is older than the host's list.
    else if (place > 0 && one.role === 'user' && typeof one.content === 'string') {
      result.push({ id: one.id, role: 'user', content: one.content });
    }
  }
  return [...result, ...messages.slice(place)];
}

/** Both name what the user said and what a tool of the client returned. */
function isSame(message: Message, known: Known): boolean {
  if (message.id === known.id) return true;
  if (message.role === 'user' && known.role === 'user') return message.content === known.content;
  return message.role === 'tool' && known.role === 'tool' && message.toolCallId === known.toolCallId;
}
