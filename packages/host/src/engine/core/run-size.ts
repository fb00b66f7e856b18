/** The sizes of a run: the values that its state holds, and its events in the log. Each row changes the counts by itself. */
import { type FoldEvent, heldSize, type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import { MAX_EVENT_BYTES } from '../../log/ports/rows.ts';
import { exceedsUtf8, utf8Size } from '../../utf8.ts';
import { exceedsJson } from '../values/json-length.ts';
import type { HostLimits } from './limits.ts';
import type { Draft, RunError, RunState } from './state.ts';

export type SizeLimits = Pick<HostLimits, 'maxRunStateBytes' | 'maxRunLogBytes'>;

/** The share of a run's log that is kept for the rows that end it. */
const RESERVED_SHARE = 1 / 16;

/** A smaller fact, such as a cancel, is never refused for its size. */
const SMALL_FACT_BYTES = 4_096;

/** Counts the values that the row replaces. Call it before the row is folded. */
export function replacedBytes(state: RunState, event: FoldEvent): number {
  switch (event.type) {
    case 'variable.changed':
      return sizeIn(state.view.variables, event.payload.name);
    case 'channel.written':
      return channelBytes(state, event.payload.channel);
    case 'node.completed':
      return event.nodeId === undefined ? 0 : sizeIn(state.outputs, event.nodeId);
    default:
      return 0;
  }
}

/** Counts the values that the row adds. Call it once the view has folded the row. */
export function addedBytes(state: RunState, event: FoldEvent): number {
  switch (event.type) {
    case 'variable.changed':
      return event.payload.next === undefined ? 0 : heldSize(event.payload.next);
    case 'channel.written':
      return channelBytes(state, event.payload.channel);
    case 'node.completed':
      return heldSize(event.payload.outputs ?? {});
    case 'run.started': {
      let bytes = 0;
      for (const name in state.view.variables) bytes += sizeIn(state.view.variables, name);
      for (const name in state.view.channels) bytes += channelBytes(state, name);
      return bytes;
    }
    default:
      return 0;
  }
}

const sizeIn = (values: JsonObject, name: string): number => (Object.hasOwn(values, name) ? heldSize(values[name]) : 0);

const channelBytes = ({ view: { channels } }: RunState, name: string): number =>
  Object.hasOwn(channels, name) ? (channels[name]?.bytes ?? 0) : 0;

/** Returns why a run is too large to go on, or null. A run that ends is not stopped again. */
export function sizeFailure(state: RunState, limits: SizeLimits): RunError | null {
  const { maxRunStateBytes = Number.POSITIVE_INFINITY, maxRunLogBytes = Number.POSITIVE_INFINITY } = limits;
  if (state.bytes > maxRunStateBytes) return stateTooLarge(state.bytes, maxRunStateBytes);
  if (state.logBytes <= maxRunLogBytes * (1 - RESERVED_SHARE)) return null;
  const message = `The events of the run take ${state.logBytes} bytes; a run may write ${maxRunLogBytes}, of which a part is kept for its end.`;
  return { code: 'run_log_too_large', message, retryable: false };
}

const stateTooLarge = (bytes: number, limit: number): RunError => ({
  code: 'run_state_too_large',
  message: `The variables, outputs and channels of the run take ${bytes} bytes; the limit is ${limit}.`,
  retryable: false,
});

/** Refuses a fact from outside, such as an answer, that would take the run past its limit. */
export function refuseLargeFact(state: RunState, drafts: readonly Draft[], limits: SizeLimits): void {
  const { maxRunStateBytes: limit } = limits;
  if (limit === undefined) return;
  let largest = 0;
  for (const { payload } of drafts) {
    // What is certainly too large is not measured: it may hold a large value a thousand times.
    largest = Math.max(largest, exceedsJson(payload, limit) ? limit + 1 : heldSize(payload));
  }
  if (largest <= SMALL_FACT_BYTES || state.bytes + largest <= limit) return;
  const { message } = stateTooLarge(state.bytes + largest, limit);
  throw new TerminalError('run_state_too_large', {
    message: `Run ${quoted(state.runId)} cannot take this in. ${message}`,
    hint: 'Send less, or ask the operator to raise limits.runStateBytes.',
    details: { bytes: state.bytes + largest, limit },
  });
}

/**
 * Half of the event limit. The other half is for the task face, which repeats a node's outputs. A row may name one large
 * value a thousand times, so that its text would fill the memory.
 */
const MAX_PAYLOAD_BYTES = MAX_EVENT_BYTES / 2;

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
