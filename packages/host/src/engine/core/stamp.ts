/** Turns what `decide` asks for into rows: stamps seq and time, folds the event, writes the task face, serialises once. */
import { eventOf, TerminalError, taskFace } from '@cairn/protocol';
import { MAX_EVENT_BYTES, type NewRow } from '../../log/ports/rows.ts';
import { exceedsUtf8, utf8Size } from '../../utf8.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { evolve } from './evolve.ts';
import type { Draft, RunState } from './state.ts';

/** Half of the limit: the other half is the task face's, which repeats a node's outputs. */
const MAX_PAYLOAD_BYTES = MAX_EVENT_BYTES / 2;

/**
 * Folds the drafts into the state and gives the rows for them. The state is ahead of the log until those are durable; on
 * a failed append the caller throws the state away. Throws `event_too_large` before the state is touched.
 */
export function stamp(state: RunState, workflow: Workflow, drafts: readonly Draft[], at: number): NewRow[] {
  const payloads = drafts.map(serialise);
  return drafts.map((draft, i) => {
    const event = eventOf(draft, state.nextSeq, at);
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
  if (!exceedsUtf8(payload, MAX_PAYLOAD_BYTES)) return payload;
  const bytes = utf8Size(payload);
  const where = draft.nodeId === undefined ? '' : ` of node ${draft.nodeId}`;
  throw new TerminalError('event_too_large', {
    message: `The ${draft.type} event${where} would hold ${bytes} bytes; an event's payload holds at most ${MAX_PAYLOAD_BYTES}.`,
    hint: 'Keep large values outside the run and pass a reference to them.',
    details: { bytes, limit: MAX_PAYLOAD_BYTES, type: draft.type },
  });
}
