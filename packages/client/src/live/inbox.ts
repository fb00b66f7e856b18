/** The inbox for a user interface: all that waits for a person, kept up to date. */
import type { InboxChange, InboxEntry } from '@cairn/protocol';
import type { Client } from '../client.ts';
import { type Live, type LiveStatus, LiveStore, liveCalls } from './live-store.ts';

interface InboxData {
  /** The oldest first; null until they are known. */
  readonly entries: readonly InboxEntry[] | null;
  /** False if there are more than the stream covers; `client.inbox.list` has all. */
  readonly isComplete: boolean;
}

export type InboxView = InboxData & LiveStatus;

export const liveInbox = (client: Pick<Client, 'inbox'>): Live<InboxView> =>
  liveCalls(
    new LiveStore<InboxChange, InboxData>(
      { open: (_data, options) => client.inbox.watch(options), reduce: changed },
      { entries: null, isComplete: true },
    ),
  );

function changed({ entries, isComplete }: InboxData, change: InboxChange): InboxData {
  const known = entries ?? [];
  switch (change.type) {
    case 'snapshot':
      return { entries: change.entries, isComplete: change.complete };
    case 'removed':
      return { entries: known.filter((entry) => !isSame(entry, change)), isComplete };
    default: {
      const { entry } = change;
      const at = known.findIndex((one) => isSame(one, entry));
      return { entries: at === -1 ? [...known, entry] : known.with(at, entry), isComplete };
    }
  }
}

type Place = Pick<InboxEntry, 'runId' | 'interruptId'>;

const isSame = (a: Place, b: Place): boolean => a.runId === b.runId && a.interruptId === b.interruptId;
