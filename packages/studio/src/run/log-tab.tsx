/** The log of a run: one line for each event, of which only the visible ones exist. */
import { type KeyboardEvent, memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { RunRow } from '../folds/run-row.ts';
import { CopyButton } from '../parts/copied.tsx';
import { useFixedRows } from './fixed-rows.ts';
import { LogFilter, type Positions } from './log-filter.ts';
import type { RunState } from './run-state.ts';
import { clock, summary } from './words.ts';

const ROW_HEIGHT = 28;
/** How near to its end the list has to be to follow new rows. */
const NEAR_END = 60;

export function LogTab({ state }: { readonly state: RunState }) {
  const [text, setText] = useState('');
  const { rows } = state.history;
  const filter = useMemo(() => new LogFilter(rows, text), [rows, text]);
  const positions = filter.upTo(state.upTo);
  const count = positions.length;
  return (
    <div className="log">
      <div className="log-tools">
        <input
          className="input"
          type="search"
          value={text}
          placeholder='Filter: agent.*, -output.chunk, "words"'
          aria-label="Filter events"
          onChange={(event) => setText(event.target.value)}
        />
        <span className="second figure">{count.toLocaleString('en')} events</span>
        <CopyButton text={curlOf(state)} label="Copy as curl" />
      </div>
      <LogRows state={state} positions={positions} />
      {count === 0 ? <p className="run-empty second">No event matches. Empty the filter to see all.</p> : null}
    </div>
  );
}

function LogRows({ state, positions }: { readonly state: RunState; readonly positions: Positions }) {
  const { history, selected, select } = state;
  const count = positions.length;
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const shown = useRef<number | null>(null);
  const list = useFixedRows(frame, count, ROW_HEIGHT);
  const rowAt = (index: number): RunRow | undefined => history.rows[positions.at(index)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is another object after each render
  useLayoutEffect(() => {
    if (selected === null && follows.current && count > 0) list.toEnd();
  }, [count, selected]);
  useEffect(() => {
    if (selected === shown.current) return;
    shown.current = selected;
    const index = selected === null ? -1 : positions.indexOfSeq(selected);
    if (index >= 0) list.show(index);
  });
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const from = selected === null ? (by > 0 ? -1 : count) : positions.indexOfSeq(selected);
    const next = rowAt(Math.min(count - 1, Math.max(0, from + by)));
    if (next !== undefined) select(next.seq);
  };
  const onScroll = (): void => {
    const at = frame.current;
    if (at !== null) follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END;
    list.onScroll();
  };
  const drawn = Array.from({ length: list.end - list.first }, (_, at) => list.first + at);
  return (
    <div
      ref={frame}
      className="run-scroll log-rows"
      role="listbox"
      tabIndex={0}
      aria-label="Events"
      aria-activedescendant={selected === null ? undefined : `event-${selected}`}
      onKeyDown={onKey}
      onScroll={onScroll}
    >
      <div className="log-space" style={{ height: list.total }}>
        {drawn.map((index) => {
          const row = rowAt(index);
          if (row === undefined) return null;
          const place = { start: index * ROW_HEIGHT, isSelected: row.seq === selected };
          return <LogRow key={row.seq} row={row} {...place} select={select} />;
        })}
      </div>
    </div>
  );
}

interface LogRowProps {
  readonly row: RunRow;
  readonly start: number;
  readonly isSelected: boolean;
  select(seq: number): void;
}

const LogRow = memo(function LogRow({ row, start, isSelected, select }: LogRowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the list select
    <div
      id={`event-${row.seq}`}
      className="log-row"
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => select(row.seq)}
    >
      <span className="figure label log-seq">{row.seq}</span>
      <span className="figure label log-time">{clock(row.at)}</span>
      <span className="log-type cut" data-family={familyOf(row.type)}>
        {row.type}
      </span>
      <span className="label cut log-node">{row.nodeId ?? ''}</span>
      <span className="second cut">{summary(row)}</span>
    </div>
  );
});

const familyOf = (type: string): string =>
  type.endsWith('.failed') || type === 'cairn.error' || type === 'cap.breached'
    ? 'failed'
    : type.startsWith('interrupt.')
      ? 'waiting'
      : 'other';

/** The request that returns these events. The key stays out of it. */
function curlOf({ runId, search }: RunState): string {
  const past = search.at === undefined ? '' : `?atSeq=${search.at}`;
  // Some shells read a ? as a pattern for files.
  return `curl '${location.origin}/v1/runs/${encodeURIComponent(runId)}/events${past}' -H "Authorization: Bearer $CAIRN_KEY"`;
}
