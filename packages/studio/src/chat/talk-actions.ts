/** What can be done with a message that was sent, for the parts of a conversation. */
import type { TaskState } from '@cairn/client/context';
import { createContext, useContext } from 'react';

export interface TalkActions {
  /** Sends a message again. Null for a reader that may not write. */
  readonly retry: ((task: TaskState, text: string) => void) | null;
  /** Sends a changed message in a new conversation, which shares everything before it. */
  readonly fork: (task: TaskState, text: string) => Promise<void>;
  readonly isBusy: boolean;
}

export const TalkContext = createContext<TalkActions>({
  retry: null,
  fork: async () => undefined,
  isBusy: false,
});

export const useTalk = (): TalkActions => useContext(TalkContext);
