/** The typed payloads of all rows of one type. */
import type { EventType, PayloadOf } from '@cairn/protocol';

export const payloadsOf = <Type extends EventType>(
  rows: readonly { readonly type: string; readonly payload: object }[],
  type: Type,
): readonly PayloadOf<Type>[] =>
  rows.filter((row) => row.type === type).map(({ payload }) => payload as PayloadOf<Type>);
