/** RunEventDoc: the wire envelope of an event (open), and its parser. */
import { z } from 'zod';
import { count, instant, json, text } from '../fields.ts';
import { parseShape } from '../parse.ts';
import { eventTypePattern, isEventType } from './catalogue.ts';
import type { RunEventDoc } from './event.ts';

const id = text.max(128);

export const runEventDoc = z
  .looseObject({
    eventId: id,
    runId: id,
    type: z.string().refine((type) => isEventType(type) || eventTypePattern.test(type), {
      message: 'not an event type',
    }),
    payload: json,
    timestamp: instant,
    /** Dense from 0 in the log; readers without `audit:read` see holes. */
    sequence: count,
    nodeId: id.optional(),
    causationId: id.optional(),
    schemaVersion: count.optional(),
    engineVersion: z.string().optional(),
  })
  .meta({ id: 'RunEventDoc' });

/** Parses an event from the wire. Unknown types and fields pass through. */
export const parseEvent = (value: unknown): RunEventDoc => parseShape(runEventDoc, value, 'The event');
