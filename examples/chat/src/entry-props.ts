import type { LiveConversation } from '@cairn/client/react';

/** One entry of a conversation. A component with these renders again only when the entry changes. */
export interface EntryProps {
  readonly conversation: LiveConversation;
  readonly id: string;
}
