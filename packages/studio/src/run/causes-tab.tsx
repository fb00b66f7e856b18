/** The causes of a run: the events around the selection as a tree, from its causes on the left to its effects on the right. */
import { useEffect, useMemo, useRef } from 'react';
import { causeTree, type PlacedEvent } from '../folds/cause-layout.ts';
import { positionOf, type RunRow } from '../folds/run-row.ts';
import { shortId } from '../parts/figures.ts';
import { HEIGHT, scrollTo, WIDTH, xOf, yOf } from './cause-places.ts';
import { OutsideCause } from './outside-cause.tsx';
import { RemoteRun } from './remote-run.tsx';
import { RunLink } from './run-link.tsx';
import type { RunState } from './run-state.ts';
import { summary } from './words.ts';

export function CausesTab({ state }: { readonly state: RunState }) {
  const { history, upTo, version } = state;
  const { rows, causes } = history;
  const rowOf = (seq: number): RunRow | undefined => {
    const row = rows[positionOf(rows, seq)];
    return row?.seq === seq ? row : undefined;
  };
  const selected = state.selected ?? rows[0]?.seq ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows and causes grow in place; the version tells of it
  const tree = useMemo(
    () => causeTree({ causes, typeOf: (seq) => rowOf(seq)?.type, selected, upTo }),
    [causes, selected, upTo, version],
  );
  const frame = useRef<HTMLDivElement>(null);
  const column = tree.events.find(({ relation }) => relation === 'selected')?.column ?? 0;
  const hasEffects = tree.columns > column + 1;
  useEffect(() => {
    frame.current?.scrollTo({ left: scrollTo({ column, hasEffects, width: frame.current.clientWidth }), top: 0 });
  }, [column, hasEffects]);
  const root = tree.events[0]?.seq ?? -1;
  return (
    <div className="causes">
      <p className="causes-note second">
        {causes.outsideCauseOf(root) === undefined ? null : (
          <span>
            Caused by <OutsideCause state={state} seq={root} /> ·{' '}
          </span>
        )}
        {state.selected === null
          ? 'Select an event to see what caused it and what it led to'
          : `Event ${selected}: ${tree.events.filter(({ relation }) => relation === 'ancestor').length} causes, ${tree.events.filter(({ relation }) => relation === 'descendant').reduce((sum, { count }) => sum + count, 0)} effects`}
        {tree.leftOut > 0 ? `; ${tree.leftOut} more are not drawn` : ''}
      </p>
      <div ref={frame} className="run-scroll causes-frame">
        <div className="causes-space" style={{ width: xOf(tree.columns + 1), height: yOf(tree.rows) + 16 }}>
          <svg className="causes-links" width={xOf(tree.columns)} height={yOf(tree.rows)} aria-hidden="true">
            {tree.events.map((event) => {
              const parent = tree.events[event.parent];
              return parent === undefined ? null : (
                <path key={event.seq} d={curve(parent, event)} data-relation={event.relation} />
              );
            })}
          </svg>
          {tree.events.map((event) => (
            <CauseBox key={event.seq} event={event} row={rowOf(event.seq)} select={state.select} />
          ))}
        </div>
      </div>
    </div>
  );
}

function curve(from: PlacedEvent, to: PlacedEvent): string {
  const [x1, y1] = [xOf(from.column) + WIDTH, yOf(from.row) + HEIGHT / 2];
  const [x2, y2] = [xOf(to.column), yOf(to.row) + HEIGHT / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

interface CauseBoxProps {
  readonly event: PlacedEvent;
  readonly row: RunRow | undefined;
  select(seq: number): void;
}

function CauseBox({ event, row, select }: CauseBoxProps) {
  const elsewhere = row === undefined ? null : elsewhereOf(row);
  const place = { transform: `translate(${xOf(event.column)}px, ${yOf(event.row)}px)`, width: WIDTH, height: HEIGHT };
  return (
    <div className="cause" data-relation={event.relation} data-elsewhere={elsewhere !== null} style={place}>
      <button type="button" onClick={() => select(event.seq)} aria-pressed={event.relation === 'selected'}>
        <span className="cut">
          <span className="figure label">{event.seq}</span> {event.count > 1 ? `${event.count} × ` : ''}
          {event.type}
        </span>
        <span className="second cut">{row === undefined ? 'not shown to this key' : summary(row)}</span>
      </button>
      {elsewhere}
    </div>
  );
}

/** The run that an event started, here or on another host. */
function elsewhereOf(row: RunRow) {
  if (row.type === 'agent.toolReturned' && row.payload.remote !== undefined) {
    const { hostId, runId } = row.payload.remote;
    return (
      <span className="cause-elsewhere">
        <RemoteRun runId={runId} hostId={hostId} />
      </span>
    );
  }
  if (row.type !== 'cairn.step.requested' && row.type !== 'node.dispatched') return null;
  const { childRunId } = row.payload;
  return childRunId === undefined ? null : (
    <span className="cause-elsewhere">
      <RunLink to={childRunId}>{shortId(childRunId)}</RunLink>
    </span>
  );
}
