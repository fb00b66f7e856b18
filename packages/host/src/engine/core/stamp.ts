/** Turns what `decide` asks for into rows: stamps seq and time, folds the event, writes the task face, serialises once. */
import { eventOf, TerminalError, type Draft as TypedDraft, taskFace } from '@cairn/protocol';
import { MAX_EVENT_BYTES, type NewRow } from '../../log/ports/rows.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { evolve } from './evolve.ts';
import type { Draft, RunState } from './state.ts';

/** Half of the limit: the other half is the task face's, which repeats a node's outputs. */
const MAX_PAYLOAD_BYTES = MAX_EVENT_BYTES / 2;

/** A text of this many UTF-16 units is within the limit whatever its characters are (3 bytes at most for each). */
const CERTAINLY_SMALL = MAX_PAYLOAD_BYTES / 3;

/**
 * Folds the drafts into the state and gives the rows for them. The state is ahead of the log until those are durable; on
 * a failed append the caller throws the state away. Throws `event_too_large` before the state is touched.
 */
export function stamp(state: RunState, workflow: Workflow, drafts: readonly Draft[], at: number): NewRow[] {
  const payloads = drafts.map(serialise);
  return drafts.map((draft, i) => {
    const event = eventOf(draft as TypedDraft, state.nextSeq, at);
    evolve(state, workflow, event);
    const face = taskFace(state.view, event);
    return {
      at,
      type: draft.type,
      nodeId: draft.nodeId,
      cause: draft.cause,
      audience: draft.audience,
      payload: payloads[i] as string,
      task: face === null ? null : JSON.stringify(face),
    };
  });
}

function serialise(draft: Draft): string {
  const payload = JSON.stringify(draft.payload);
  if (payload.length <= CERTAINLY_SMALL) return payload;
  const bytes = utf8Length(payload);
  if (bytes <= MAX_PAYLOAD_BYTES) return payload;
  const where = draft.nodeId === undefined ? '' : ` of node ${draft.nodeId}`;
  throw new TerminalError('event_too_large', {
    message: `The ${draft.type} event${where} would hold ${bytes} bytes; an event's payload holds at most ${MAX_PAYLOAD_BYTES}.`,
    hint: 'Keep large values outside the run and pass a reference to them.',
    details: { bytes, limit: MAX_PAYLOAD_BYTES, type: draft.type },
  });
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
