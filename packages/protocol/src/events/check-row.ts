/** Holds a row to what the catalogue says of its type. For tests and the simulation: production parses no row it writes. */
import type { z } from 'zod';
import { invariant } from '../errors.ts';
import { parseShape } from '../parse.ts';
import { audienceOf } from './audiences.ts';
import { eventPayloads, isEventType } from './catalogue.ts';
import type { Audience } from './event.ts';

/** Throws for a row that its type does not allow; a type this version does not know may carry anything. */
export function checkRow(row: { readonly type: string; readonly audience: Audience; readonly payload: string }): void {
  const { type, audience, payload } = row;
  invariant(audience === audienceOf(type), 'row-audience', { type, audience });
  if (!isEventType(type)) return;
  const schema: z.ZodType = eventPayloads[type];
  parseShape(schema, JSON.parse(payload), `The payload of ${type}`);
}
