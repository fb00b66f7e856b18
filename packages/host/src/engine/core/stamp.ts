/** Turns drafts into rows: stamps seq and time, folds the event, writes the task face, and serialises once. */
import { audienceIn, eventOf, TerminalError, taskFace } from '@cairn/protocol';
import { newRow } from '../../log/ports/new-row.ts';
import { MAX_EVENT_BYTES, type NewRow } from '../../log/ports/rows.ts';
import { exceedsUtf8, utf8Size } from '../../utf8.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { evolve } from './evolve.ts';
import type { Draft, RunState } from './state.ts';

/** Half of the event limit. The other half is for the task face, which repeats a node's outputs. */
const MAX_PAYLOAD_BYTES = MAX_EVENT_BYTES / 2;

/**
 * Folds the drafts into the state and returns their rows. The state is ahead of the log until the rows are durable; the
 * caller discards it if the append fails. Throws `event_too_large` before it changes the state.
 */
export function stamp(state: RunState, workflow: Workflow, drafts: readonly Draft[], at: number): NewRow[] {
  const payloads = drafts.map(serialise);
  return drafts.map((draft, i) => {
    const event = eventOf(draft, state.nextSeq, at);
    evolve(state, workflow, event);
    const face = taskFace(state.view, event);
    const payload = payloads[i] as string;
    const audience = audienceIn(state.view, draft);
    const { type, nodeId, cause } = draft;
    const row = newRow({ at, type, nodeId, cause, audience, payload }, face);
    state.logBytes += row.bytes;
    return row;
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
