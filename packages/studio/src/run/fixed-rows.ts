/**
 * The visible part of a list whose rows have one height. A list of 100,000 rows that grows costs no more than a short one,
 * because nothing is kept for each row.
 */
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';

/** Rows drawn beyond each edge, so that a flick shows no gap. */
const BEYOND = 10;

export interface FixedRows {
  /** The index of the first row to draw, and of the one after the last. */
  readonly first: number;
  readonly end: number;
  /** The height of all rows. */
  readonly total: number;
  /** Call it when the list scrolls. */
  onScroll(): void;
  /** Scrolls as little as shows the row. */
  show(index: number): void;
  toEnd(): void;
}

export function useFixedRows(frame: RefObject<HTMLElement | null>, count: number, height: number): FixedRows {
  const [view, setView] = useState({ top: 0, tall: 800 });
  const read = useCallback(() => {
    const element = frame.current;
    if (element === null) return;
    // Whole rows: a smaller step of the list needs no new drawing.
    const top = Math.floor(element.scrollTop / height) * height;
    const tall = element.clientHeight;
    setView((last) => (last.top === top && last.tall === tall ? last : { top, tall }));
  }, [frame, height]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame, read]);
  const first = Math.max(0, Math.min(count, Math.floor(view.top / height)) - BEYOND);
  const end = Math.min(count, Math.ceil((view.top + view.tall) / height) + BEYOND);
  return {
    first: Math.min(first, Math.max(0, end - 1)),
    end,
    total: count * height,
    onScroll: read,
    show: (index) => {
      const element = frame.current;
      if (element === null) return;
      const top = index * height;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + height > element.scrollTop + element.clientHeight)
        element.scrollTop = top + height - element.clientHeight;
      read();
    },
    toEnd: () => {
      const element = frame.current;
      if (element !== null) element.scrollTop = count * height;
      read();
    },
  };
}
