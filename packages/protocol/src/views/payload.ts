/** How folds read a payload: by its type, without parsing it again. */
import type { EventType, PayloadOf } from '../events/catalog.ts';
import type { Json, JsonObject } from '../json.ts';

const nothing: JsonObject = {};

/** The payload as its type has it: held to it by the compiler where it was written, and not parsed again. */
export const payloadAs = <Type extends EventType>(payload: Json): PayloadOf<Type> =>
  (typeof payload === 'object' && payload !== null ? payload : nothing) as unknown as PayloadOf<Type>;
