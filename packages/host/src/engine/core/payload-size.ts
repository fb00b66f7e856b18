/** The size of an event's payload. A row may name one large value a thousand times, so that its text would fill the memory. */
import { TerminalError } from '@cairn/protocol';
import { MAX_EVENT_BYTES } from '../../log/ports/rows.ts';
import { exceedsUtf8, utf8Size } from '../../utf8.ts';
import { exceedsJson } from '../values/json-length.ts';
import type { Draft } from './state.ts';

/** Half of the event limit. The other half is for the task face, which repeats a node's outputs. */
export const MAX_PAYLOAD_BYTES = MAX_EVENT_BYTES / 2;

/** Throws `event_too_large` for what is certainly too large, without making a text of it. */
export function refuseHugePayload(draft: Draft): void {
  if (exceedsJson(draft.payload, MAX_PAYLOAD_BYTES)) throw tooLarge(draft, 'more', {});
}

/** The payload as JSON. Throws `event_too_large`. */
export function payloadText(draft: Draft): string {
  refuseHugePayload(draft);
  const payload = JSON.stringify(draft.payload);
  if (!exceedsUtf8(payload, MAX_PAYLOAD_BYTES)) return payload;
  const bytes = utf8Size(payload);
  throw tooLarge(draft, `${bytes} bytes`, { bytes });
}

function tooLarge({ type, nodeId }: Draft, held: string, details: { readonly bytes?: number }): TerminalError {
  const where = nodeId === undefined ? '' : ` of node ${nodeId}`;
  return new TerminalError('event_too_large', {
    message: `The ${type} event${where} would hold ${held}; an event's payload holds at most ${MAX_PAYLOAD_BYTES} bytes.`,
    hint: 'Keep large values outside the run and pass a reference to them.',
    details: { ...details, limit: MAX_PAYLOAD_BYTES, type },
  });
}
