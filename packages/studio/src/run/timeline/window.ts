/** The part of the time that the timeline shows. */
import type { Window } from './draw-timeline.ts';

const SHORTEST_MS = 20;
const LONGEST_MS = 366 * 24 * 3_600_000;

/** All of a run, with a little room at the end. */
export function fitted(startedAt: number, now: number): Window {
  const length = Math.max(SHORTEST_MS, now - startedAt);
  return { from: startedAt, to: startedAt + length * 1.04 };
}

/** Around the point at this share of the width. */
export function zoomed({ from, to }: Window, factor: number, share: number): Window {
  const length = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (to - from) * factor));
  const point = from + (to - from) * share;
  return { from: point - length * share, to: point + length * (1 - share) };
}

export const moved = ({ from, to }: Window, ms: number): Window => ({ from: from + ms, to: to + ms });
