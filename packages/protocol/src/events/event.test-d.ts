/** The event union, checked by the compiler alone. */

import type { Json, JsonObject } from '../json.ts';
import type { EventType, PayloadOf } from './catalogue.ts';
import type {
  EventDoc,
  EventDocOf,
  EventOf,
  FoldEvent,
  KnownEvent,
  RawEvent,
  RunEventDoc,
  UnknownEvent,
  UnknownEventDoc,
} from './event.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_Claim extends true>(): void => undefined;

export function narrowed(event: FoldEvent): void {
  switch (event.type) {
    case 'run.started':
      holds<Same<typeof event, EventOf<'run.started'>>>();
      holds<Same<typeof event.payload.workflowId, string>>();
      // @ts-expect-error: no such field
      event.payload.workflowID;
      break;
    case 'run.failed':
    case 'node.failed':
      holds<Same<typeof event.payload.error.message, string>>();
      break;
    default:
      holds<Same<Extract<typeof event, UnknownEvent>, UnknownEvent>>();
      holds<Same<Extract<typeof event, { type: 'run.started' }>, never>>();
  }
  if (event.type === 'output.chunk') holds<Same<typeof event, EventOf<'output.chunk'>>>();
  // @ts-expect-error: no such type
  if (event.type === 'output.chunks') return;
}

export function narrowedDoc(event: EventDoc): void {
  switch (event.type) {
    case 'run.failed':
      holds<Same<typeof event, EventDocOf<'run.failed'>>>();
      holds<Same<typeof event.payload.error.message, string>>();
      break;
    case 'interrupt.requested':
      // @ts-expect-error: no such field
      event.payload.interruptID;
      break;
    default:
      holds<Same<Extract<typeof event, UnknownEventDoc>, UnknownEventDoc>>();
  }
  // @ts-expect-error: no such type
  if (event.type === 'run.finished') return;
}

export const asJson = (event: KnownEvent): JsonObject => event.payload;
holds<Same<UnknownEvent['payload'], JsonObject>>();
holds<FoldEvent extends RawEvent ? true : false>();
holds<EventDoc extends RunEventDoc ? true : false>();
holds<PayloadOf<EventType> extends JsonObject ? true : false>();
holds<Same<PayloadOf<'agent.decided'>['decision'], Json>>();
