/** The row of a changed variable. */
import { type Json, jsonSize, row } from '@cairn/protocol';
import type { PayloadDraft } from './payload-draft.ts';
import type { Draft } from './state.ts';

/** Larger previous values are left out: an earlier row holds them, and a loop would write them each time. */
const MAX_PREVIOUS_BYTES = 1_024;

/** `previous` is undefined for a variable that had no value. */
export function variableChanged(
  nodeId: string,
  { name, previous, next }: { readonly name: string; readonly previous: Json | undefined; readonly next: Json },
): Draft {
  const payload: PayloadDraft<'variable.changed'> = { name };
  if (previous !== undefined) {
    const previousBytes = jsonSize(previous);
    if (previousBytes <= MAX_PREVIOUS_BYTES) payload.previous = previous;
    else payload.previousBytes = previousBytes;
  }
  payload.next = next;
  payload.nodeId = nodeId;
  return row('variable.changed', payload, { nodeId });
}
