/** How the modes of a stream show the rows of a run. */
import { type StreamMode, shownAs } from '@cairn/protocol';
import { everything, type Form, type Lens, payloads } from '../../log/feed/lens.ts';

/** Events that may wait go out as documents of one batch. */
export const formOf = (bufferMs: number): Form => (bufferMs === 0 ? 'frames' : 'documents');

/** The lens of modes that are decided row by row; subscribers with equal modes share its text. */
export function lensOf(modes: ReadonlySet<StreamMode>, form: Form): Lens {
  if (form === 'frames' && modes.size === 1 && modes.has('debug')) return everything;
  return payloads(`${[...modes].sort().join()} ${form}`, (type) => shownAs(modes, type), form);
}
