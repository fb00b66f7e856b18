/** The event of another run, here or on another host, that caused an event of this one. */
import { eventPlace } from '@cairn/protocol';
import { positionOf } from '../folds/run-row.ts';
import { shortId } from '../parts/figures.ts';
import { RemoteRun } from './remote-run.tsx';
import { RunLink } from './run-link.tsx';
import type { RunState } from './run-state.ts';

interface OutsideCauseProps {
  readonly state: RunState;
  /** The event of this run. */
  readonly seq: number;
}

export function OutsideCause({ state: { history }, seq }: OutsideCauseProps) {
  const id = history.causes.outsideCauseOf(seq);
  if (id === undefined) return null;
  const row = history.rows[positionOf(history.rows, seq)];
  const remote = row?.type === 'run.started' ? row.payload.remoteParent : undefined;
  if (remote !== undefined) return <RemoteRun runId={remote.runId} hostId={remote.hostId} />;
  const place = eventPlace(id);
  return place === null ? (
    <code>{id}</code>
  ) : (
    <>
      event {place.seq} of{' '}
      <RunLink to={place.runId} event={place.seq}>
        {shortId(place.runId)}
      </RunLink>
    </>
  );
}
