/** Checks a row against the catalogue. Tests and the simulation use it; production does not parse the rows that it writes. */
import type { z } from 'zod';
import { invariant } from '../errors.ts';
import { parseShape } from '../parse.ts';
import { audienceOf } from './audiences.ts';
import { eventPayloads, isEventType } from './catalogue.ts';
import type { Audience } from './event.ts';

/** Throws if the payload or the audience does not match the type. An unknown type may carry any payload. */
export function checkRow(row: { readonly type: string; readonly audience: Audience; readonly payload: string }): void {
  const { type, audience, payload } = row;
  // A host may keep the thoughts of its agents from clients.
  const isPrivate = audience === 'operator' && /^agent\.reason(?:ed|ing\.delta)$/.test(type);
  invariant(isPrivate || audience === audienceOf(type), 'row-audience', { type, audience });
  if (!isEventType(type)) return;
  const schema: z.ZodType = eventPayloads[type];
  parseShape(schema, JSON.parse(payload), `The payload of ${type}`);
}
