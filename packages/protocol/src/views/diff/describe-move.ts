/** The values of the few moves that differ, from the events that hold them. */
import type { RawEvent } from '../../events/event.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { OwnIds } from './comparable.ts';
import type { Move } from './diff-side.ts';
import { movePartOf } from './moves.ts';
import { MAX_TEXT } from './text-diff.ts';

/** The compared values of a move, from its events in order. */
export function describeMove(move: Move, events: readonly RawEvent[], ids: OwnIds): JsonObject {
  const fields: Record<string, Json> = {};
  let text = '';
  for (const event of events) {
    const part = movePartOf(event, ids);
    if (part === null || part.section !== move.section || (part.id ?? null) !== move.id) continue;
    Object.assign(fields, part.fields);
    if (part.piece !== undefined && text.length < MAX_TEXT) text += part.piece;
  }
  return move.isText ? { text } : fields;
}
