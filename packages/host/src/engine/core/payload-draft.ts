/** A payload that is still being filled in, field by field, in the order in which its text will have them. */
import type { EventType, PayloadOf } from '@cairn/protocol';

export type PayloadDraft<Type extends EventType> = {
  -readonly [Field in keyof PayloadOf<Type>]: PayloadOf<Type>[Field];
};
