/** A mutable payload, built field by field. Assignment order is the field order of the serialised JSON. */
import type { EventType, PayloadOf } from '@cairn/protocol';

export type PayloadDraft<Type extends EventType> = {
  -readonly [Field in keyof PayloadOf<Type>]: PayloadOf<Type>[Field];
};
