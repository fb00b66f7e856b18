/** What a part of a conversation is told: where it belongs, and which entry it shows. */
import type { LiveConversation } from '@cairn/client/react';

export interface EntryProps {
  readonly conversation: LiveConversation;
  readonly id: string;
}
