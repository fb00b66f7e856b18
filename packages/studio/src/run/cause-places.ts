/** Where the boxes of the causes stand, and how far their frame is scrolled to show the selection. */

export const WIDTH = 184;
export const HEIGHT = 40;
const GAP_X = 36;
const GAP_Y = 10;
/** Between the edge of the frame and the first box. */
const EDGE = 16;

/** Effects to the right of the selection get this much, where there is room for it. */
const FOR_EFFECTS = 240;

export const xOf = (column: number): number => EDGE + column * (WIDTH + GAP_X);
export const yOf = (row: number): number => EDGE + row * (HEIGHT + GAP_Y);

interface Shown {
  /** Of the selection. */
  readonly column: number;
  readonly hasEffects: boolean;
  /** Of the frame. */
  readonly width: number;
}

/** As many whole causes as fit, with room for the effects, if there are any. No box is cut at the left edge. */
export function scrollTo({ column, hasEffects, width }: Shown): number {
  const room = hasEffects ? Math.max(0, Math.min(FOR_EFFECTS, width - WIDTH - 2 * EDGE)) : EDGE;
  const least = xOf(column) + WIDTH + room - width;
  const first = Math.min(column, Math.max(0, Math.ceil(least / (WIDTH + GAP_X))));
  return xOf(first) - EDGE;
}
