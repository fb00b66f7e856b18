/** RunEventDoc: the envelope every event travels in (open), and how a reader takes one in. */
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

/** An event as it came over the wire. Types and fields this version does not know pass through untouched. */
export const parseEvent = (value: unknown): RunEventDoc => parseShape(runEventDoc, value, 'The event');
