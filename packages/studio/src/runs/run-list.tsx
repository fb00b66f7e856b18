/** The list itself: as many rows as fit, out of as many as there are. */
import type { InboxEntry, RunSnapshot } from '@cairn/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useKeys } from '../shell/keys.tsx';
import { waitingOn } from './run-facts.ts';
import { type RunPages, rowAt } from './run-pages.ts';
import { BoneRow, RunHead, RunRow } from './run-row.tsx';
import type { Selection } from './use-selection.ts';

interface RunListProps {
  readonly list: RunPages;
  readonly entries: readonly InboxEntry[];
  readonly selection: Selection;
  readonly onSee: (from: number, to: number) => void;
}

const narrow = matchMedia('(max-width: 640px)');
const watchWidth = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

export function RunList({ list, entries, selection, onSee }: RunListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isNarrow = useSyncExternalStore(watchWidth, () => narrow.matches);
  const rowHeight = isNarrow ? 64 : 32;
  const rows = useVirtualizer({
    count: list.count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 6,
    // The header takes the place of one row.
    paddingStart: isNarrow ? 0 : 28,
    scrollPaddingStart: isNarrow ? 0 : 28,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew.
  useEffect(() => rows.measure(), [rows, rowHeight]);
  const current = useCurrent(list, rows.scrollToIndex, selection);
  useSteadyTop(list, frame.current, rowHeight);
  const shown = rows.getVirtualItems();
  const [from, to] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => onSee(from, to), [onSee, from, to]);
  return (
    <div ref={frame} className="run-list">
      <RunHead />
      <ul
        aria-label="Runs, newest first"
        style={{ height: rows.getTotalSize() - (isNarrow ? 0 : 28), position: 'relative' }}
      >
        {shown.map(({ index, start }) => {
          const run = rowAt(list, index);
          const top = start - (isNarrow ? 0 : 28);
          if (run === null) return <BoneRow key={`row ${index}`} row={index} top={top} />;
          return (
            <RunRow
              key={run.runId}
              run={run}
              row={index}
              top={top}
              isCurrent={index === current}
              isSelected={selection.has(run.runId)}
              question={waitingOn(run.runId, entries)}
              onSelect={selection.toggle}
            />
          );
        })}
      </ul>
    </div>
  );
}

/** The row that the keys move, and what they do with it. */
function useCurrent(list: RunPages, scrollTo: (row: number) => void, selection: Selection): number | null {
  const navigate = useNavigate();
  const [runId, setRunId] = useState<string | null>(null);
  const at = useRowOf(list, runId);
  const move = (step: number) => {
    const next = at === null ? 0 : Math.min(Math.max(at + step, 0), list.count - 1);
    const run = rowAt(list, next);
    if (run === null) return;
    setRunId(run.runId);
    scrollTo(next);
  };
  const run: RunSnapshot | null = at === null ? null : rowAt(list, at);
  const open = () => run !== null && void navigate({ to: '/runs/$runId', params: { runId: run.runId } });
  useKeys([
    { key: 'j', label: 'Next run', run: () => move(1) },
    { key: 'k', label: 'Previous run', run: () => move(-1) },
    { key: 'ArrowDown', label: 'Next run', run: () => move(1) },
    { key: 'ArrowUp', label: 'Previous run', run: () => move(-1) },
    { key: 'Enter', label: 'Open the run', run: open },
    { key: 'x', label: 'Select the run', run: () => run !== null && selection.toggle(run) },
  ]);
  return at;
}

/** How far a row may move between two answers of the host and still be found. */
const MAX_MOVE = 200;

/** Where a run is now: new runs move it down. */
function useRowOf(list: RunPages, runId: string | null): number | null {
  const last = useRef(0);
  if (runId === null) return null;
  for (let step = 0; step <= MAX_MOVE; step += 1) {
    const at = [last.current + step, last.current - step].find((row) => rowAt(list, row)?.runId === runId);
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
