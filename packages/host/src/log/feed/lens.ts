/** How a subscriber sees rows: which of them, which face, under which name, as what text. Decided by columns, never by body. */
import type { Row } from '../ports/rows.ts';
import { Instants, lineText, sseFrame } from './frame.ts';
import { isUrgent } from './pace.ts';
import type { Chunk } from './sink.ts';

export interface Lens {
  /** Subscribers whose lenses have the same key see the same, and share one text. Null: a view with a state of its own. */
  readonly key: string | null;
  /** The text of a row that it renders; it hides rows without one, unless it takes any. Pages are read without the other. */
  readonly face: 'payload' | 'task' | 'any';
  /** Replaces the rows of a page for a subscriber that is behind. */
  readonly condensed?: (rows: readonly Row[]) => readonly Row[];
  /** The name under which a row of a type is shown; null hides it. */
  nameOf(type: string, row: Row): string | null;
  /** One row as text. */
  render(row: Row, name: string, timestamp: string): string;
  /** Between two rows. */
  readonly separator: '' | ',';
}

/** SSE frames, one after the other; or bare documents with commas between them, many of which fit in one frame. */
export type Form = 'frames' | 'documents';

/** A lens on payloads. */
export const payloads = (key: string, nameOf: Lens['nameOf'], form: Form): Lens =>
  form === 'frames'
    ? { key, face: 'payload', nameOf, render: sseFrame, separator: '' }
    : { key, face: 'payload', nameOf, render: lineText, separator: ',' };

/** Every row, under its own type, in a frame of its own. */
export const everything: Lens = payloads('everything', (type) => type, 'frames');

/** The name under which a lens shows a row; null when it hides it. */
export const shownName = (row: Row, lens: Lens): string | null =>
  lens.face === 'task' && row.task === null ? null : lens.nameOf(row.type, row);

/** Rows as a lens shows them; `positionOf` gives the position of a row in the range that is followed. */
export function rendered(rows: readonly Row[], lens: Lens, positionOf: (row: Row) => number): Omit<Chunk, 'isLast'> {
  const instants = new Instants();
  let text = '';
  let upTo = -1;
  let urgent = false;
  for (const row of lens.condensed?.(rows) ?? rows) {
    const name = shownName(row, lens);
    if (name === null) continue;
    if (text !== '') text += lens.separator;
    text += lens.render(row, name, instants.textOf(row.at));
    upTo = positionOf(row);
    urgent ||= isUrgent(row.type);
  }
  return { text, upTo, urgent };
}
