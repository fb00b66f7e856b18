/** The list itself: as many rows as fit, out of as many as there are. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useKeys } from '../shell/keys.tsx';
import { ChildrenFailed, MoreChildren } from './child-rows.tsx';
import { type FoldedRows, foldedRows } from './folded-rows.ts';
import { waitingOn } from './run-facts.ts';
import type { RunPages, Seen } from './run-pages.ts';
import { BoneRow, RunHead, RunRow } from './run-row.tsx';
import type { OpenRunsHook } from './use-open-runs.ts';
import type { Selection } from './use-selection.ts';

interface RunListProps {
  readonly list: RunPages;
  readonly entries: readonly InboxEntry[];
  readonly selection: Selection;
  readonly unfolding: OpenRunsHook;
  /** Whether the rows unfold: children are no rows of the list itself. */
  readonly isFolded: boolean;
  readonly onSee: (seen: Seen) => void;
}

const narrow = matchMedia('(max-width: 640px)');
const watchWidth = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

export function RunList({ list, entries, selection, unfolding, isFolded, onSee }: RunListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isNarrow = useSyncExternalStore(watchWidth, () => narrow.matches);
  const rowHeight = isNarrow ? 64 : 32;
  const { open, toggle } = unfolding;
  const folded = useMemo(() => foldedRows(list, open), [list, open]);
  const rows = useVirtualizer({
    count: folded.count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    // The header takes the place of one row.
    paddingStart: isNarrow ? 0 : 28,
    scrollPaddingStart: isNarrow ? 0 : 28,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew.
  useEffect(() => rows.measure(), [rows, rowHeight]);
  const current = useCurrent(folded, rows.scrollToIndex, selection, isFolded ? toggle : null);
  useSteadyTop(list, frame.current, rowHeight);
  const shown = rows.getVirtualItems();
  const [from, to] = [folded.listRow(shown[0]?.index ?? 0), folded.listRow(shown.at(-1)?.index ?? 0)];
  useEffect(() => onSee({ from, to, open: new Set(open.keys()) }), [onSee, from, to, open]);
  return (
    <div ref={frame} className="run-list">
      <RunHead />
      <ul
        aria-label="Runs, newest first"
        style={{ height: rows.getTotalSize() - (isNarrow ? 0 : 28), position: 'relative' }}
      >
        {shown.map(({ index, start }) => {
          const row = folded.at(index);
          const place = { row: index, top: start - (isNarrow ? 0 : 28), depth: row.depth };
          if (row.is === 'reading') return <BoneRow key={row.key} {...place} />;
          if (row.is === 'more')
            return <MoreChildren key={`more ${row.parentRunId}`} parentRunId={row.parentRunId} {...place} />;
          if (row.is === 'failed')
            return <ChildrenFailed key={`failed ${row.parentRunId}`} error={row.error} {...place} />;
          const { run } = row;
          return (
            <RunRow
              key={run.runId}
              run={run}
              {...place}
              isCurrent={index === current}
              isSelected={selection.has(run.runId)}
              isOpen={open.has(run.runId)}
              question={waitingOn(run.runId, entries)}
              onSelect={selection.toggle}
              onToggle={isFolded ? toggle : null}
            />
          );
        })}
      </ul>
    </div>
  );
}

/** The row that the keys move, and what they do with it. */
function useCurrent(
  rows: FoldedRows,
  scrollTo: (row: number) => void,
  selection: Selection,
  toggle: ((runId: string) => void) | null,
): number | null {
  const navigate = useNavigate();
  const [runId, setRunId] = useState<string | null>(null);
  const at = useRowOf(rows, runId);
  const move = (step: number) => {
    let next = at === null ? 0 : at + step;
    // A row that is no run is passed over.
    while (at !== null && next > 0 && next < rows.count - 1 && runAt(rows, next) === null) next += step;
    next = Math.min(Math.max(next, 0), rows.count - 1);
    const run = runAt(rows, next);
    if (run === null) return;
    setRunId(run.runId);
    scrollTo(next);
  };
  const run: RunSnapshot | null = at === null ? null : runAt(rows, at);
  const open = () => run !== null && void navigate({ to: '/runs/$runId', params: { runId: run.runId } });
  const unfold = () => run !== null && (run.summary?.childCount ?? 0) > 0 && toggle?.(run.runId);
  useKeys([
    { key: 'j', label: 'Next run', run: () => move(1) },
    { key: 'k', label: 'Previous run', run: () => move(-1) },
    { key: 'ArrowDown', label: 'Next run', run: () => move(1) },
    { key: 'ArrowUp', label: 'Previous run', run: () => move(-1) },
    { key: 'Enter', label: 'Open the run', run: open },
    { key: 'x', label: 'Select the run', run: () => run !== null && selection.toggle(run) },
    ...(toggle === null ? [] : [{ key: 'o', label: 'Show or hide its child runs', run: unfold }]),
  ]);
  return at;
}

function runAt(rows: FoldedRows, row: number): RunSnapshot | null {
  if (row < 0 || row >= rows.count) return null;
  const found = rows.at(row);
  return found.is === 'run' ? found.run : null;
}

/** How far a row may move between two answers of the host and still be found. */
const MAX_MOVE = 200;

/** Where a run is now: new runs move it down. */
function useRowOf(rows: FoldedRows, runId: string | null): number | null {
  const last = useRef(0);
  if (runId === null) return null;
  for (let step = 0; step <= MAX_MOVE; step += 1) {
    const at = [last.current + step, last.current - step].find((row) => runAt(rows, row)?.runId === runId);
    if (at === undefined) continue;
    last.current = at;
    return at;
  }
  return null;
}

/** Keeps what somebody reads in its place when runs arrive above it. */
function useSteadyTop(list: RunPages, frame: HTMLElement | null, rowHeight: number): void {
  const first = useRef<string | undefined>(undefined);
  const runs = list.pages[0]?.runs ?? null;
  useLayoutEffect(() => {
    const before = first.current;
    first.current = runs?.[0]?.runId;
    if (before === undefined || frame === null || frame.scrollTop < rowHeight) return;
    const moved = runs?.findIndex(({ runId }) => runId === before) ?? 0;
    if (moved > 0) frame.scrollTop += moved * rowHeight;
  }, [runs, frame, rowHeight]);
}
