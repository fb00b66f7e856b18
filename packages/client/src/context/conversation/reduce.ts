/** Turns the events of a context into what a user interface shows. Pure. */
import type { TaskEvent } from '@cairn/protocol';
import type { ContextEvent } from '../follow-context.ts';
import { foldArtifact } from './artifacts.ts';
import { Draft } from './draft.ts';
import { foldInput } from './inputs.ts';
import { type ConversationState, emptyConversation } from './state.ts';
import { foldTalk } from './talk.ts';
import { foldTask } from './tasks.ts';

/**
 * The state after these events. Events come in the order of their cursors; those that are in the state already change
 * nothing. The events may begin anywhere, and kinds that are not known are passed over.
 */
export function reduceConversation(state: ConversationState, events: Iterable<ContextEvent>): ConversationState {
  let draft = new Draft(state);
  for (const event of events) {
    if (event.kind === 'stream:reset') draft = new Draft(emptyConversation);
    else if (event.kind === 'stream:caught-up') draft.assign(caughtUp(draft.state, event.cursor));
    else if (event.cursor > draft.state.cursor) fold(draft, event);
  }
  return draft.state;
}

const caughtUp = ({ cursor }: ConversationState, reached: number) => ({
  isCaughtUp: true,
  cursor: Math.max(cursor, reached),
});

function fold(draft: Draft, event: TaskEvent): void {
  // A draft has one owner of each position: what follows sees the event as taken.
  draft.assign({ cursor: event.cursor });
  foldTask(draft, event);
  foldTalk(draft, event);
  foldInput(draft, event);
  foldArtifact(draft, event);
}
