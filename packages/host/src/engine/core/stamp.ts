/** Turns drafts into rows: stamps seq and time, folds the event, writes the task face, and serialises once. */
import { audienceIn, eventOf, taskFace } from '@cairn/protocol';
import { newRow } from '../../log/ports/new-row.ts';
import type { NewRow } from '../../log/ports/rows.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { evolve } from './evolve.ts';
import { payloadText } from './run-size.ts';
import type { Draft, RunState } from './state.ts';

/**
 * Folds the drafts into the state and returns their rows. The state is ahead of the log until the rows are durable; the
 * caller discards it if the append fails. Throws `event_too_large` before it changes the state.
 */
export function stamp(state: RunState, workflow: Workflow, drafts: readonly Draft[], at: number): NewRow[] {
  const payloads = drafts.map(payloadText);
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
