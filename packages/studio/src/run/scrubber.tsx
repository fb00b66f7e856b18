/** Moves through the events of a run: every tab shows the run as it was after the event. */
import { positionOf } from '../folds/run-row.ts';
import type { RunState } from './run-state.ts';
import { clock } from './words.ts';

interface ScrubberProps {
  readonly state: RunState;
  forkHere(): void;
}

/** The state one row before or after the one that is shown. Null: the present. */
export function stepped({ history, upTo }: RunState, by: number): number | null {
  const { rows } = history;
  const next = rows[Math.max(0, positionOf(rows, upTo) + by)];
  return next === undefined || next.seq >= history.lastSeq ? null : next.seq;
}

export function Scrubber({ state, forkHere }: ScrubberProps) {
  const { history, upTo, search, data } = state;
  const { rows } = history;
  const position = positionOf(rows, upTo);
  const isPast = search.at !== undefined && upTo < history.lastSeq;
  const go = (at: number | null): void => state.go({ at: at ?? undefined });
  return (
    <div className="scrubber" data-past={isPast}>
      <button
        type="button"
        className="button"
        disabled={position <= 0}
        onClick={() => go(stepped(state, -1))}
        aria-label="Event before"
      >
        [
      </button>
      <input
        type="range"
        min={0}
        max={Math.max(0, rows.length - 1)}
        value={Math.max(0, position)}
        disabled={!data.isWhole}
        aria-label="Event"
        aria-valuetext={`Event ${upTo} of ${history.lastSeq}`}
        onChange={(event) => {
          const row = rows[Number(event.target.value)];
          go(row === undefined || row.seq >= history.lastSeq ? null : row.seq);
        }}
      />
      <button
        type="button"
        className="button"
        disabled={!isPast}
        onClick={() => go(stepped(state, 1))}
        aria-label="Event after"
      >
        ]
      </button>
      <span className="figure second scrubber-place" style={{ minWidth: `${widest(state)}ch` }}>
        {placeWords(state)}
      </span>
      <span className="figure label scrubber-time">{rows[position] === undefined ? '' : clock(rows[position].at)}</span>
      <button type="button" className="button to-end" disabled={!isPast} onClick={() => go(null)}>
        {data.phase === 'ended' ? 'To the end' : 'Live'}
      </button>
      <button
        type="button"
        className="button"
        data-kind={isPast ? 'main' : 'plain'}
        disabled={rows.length === 0}
        onClick={forkHere}
      >
        Fork from here
      </button>
    </div>
  );
}

/** Where the slider stands, in words; nothing before the first event is read. */
function placeWords({ data, history, upTo }: RunState): string {
  const [first] = history.rows;
  if (first === undefined) return '';
  return data.isWhole ? `${upTo} of ${history.lastSeq}` : `last ${history.rows.length} events, from ${first.seq}`;
}

/** The slider stays as long as it is while somebody drags it: what stands beside it keeps its width. */
const widest = ({ data, history: { lastSeq } }: RunState): number =>
  data.isWhole ? `${lastSeq} of ${lastSeq}`.length : 0;
