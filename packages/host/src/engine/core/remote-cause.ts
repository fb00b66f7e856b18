/** A cause on another host: the event there that caused this run, which the first agent event of the run repeats. */
import { type EventOf, mayNameRemoteCause } from '@cairn/protocol';
import type { Draft, RemoteEvent } from './state.ts';

/** What the first agent event of the run repeats; null for a run that no other host requested. */
export const remoteEventOf = ({ cause, payload }: EventOf<'run.started'>): RemoteEvent | null =>
  typeof cause === 'string' && payload.causationHostId !== undefined
    ? { hostId: payload.causationHostId, eventId: cause }
    : null;

/** What the catalogue lets name a cause on another host is an agent event. */
export const isAgentEvent = mayNameRemoteCause;

/** The first agent event of a run that another host requested names the event there as its cause. */
export function withRemoteCause(drafts: readonly Draft[], remoteCause: RemoteEvent): Draft[] | null {
  const first = drafts.findIndex(({ type }) => isAgentEvent(type));
  if (first === -1) return null;
  return drafts.map((draft, i) => (i === first ? caused(draft, remoteCause) : draft));
}

const caused = <Caused extends Draft>(draft: Caused, { hostId, eventId }: RemoteEvent): Caused => ({
  ...draft,
  cause: eventId,
  payload: { ...draft.payload, causationHostId: hostId },
});
