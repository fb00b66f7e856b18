/** The inbox as a React hook. */
import { useSyncExternalStore } from 'react';
import type { Client } from '../client.ts';
import { type InboxView, liveInbox } from '../live/inbox.ts';
import type { Live } from '../live/live-store.ts';
import { Shared } from './shared.ts';

const inboxes = new Shared<Live<InboxView>>();

/** All that waits for a person, kept up to date. Components share one connection. */
export function useInbox(client: Pick<Client, 'inbox'>): InboxView {
  const { subscribe, getSnapshot, getInitialSnapshot } = inboxes.of(client, '', () => liveInbox(client));
  return useSyncExternalStore(subscribe, getSnapshot, getInitialSnapshot);
}
