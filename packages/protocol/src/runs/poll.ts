/** The responses of the event routes that are not streams: one poll, and the whole log as JSON. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { runEventDoc } from '../events/run-event-doc.ts';
import { text } from '../fields.ts';
import { runStatuses } from './run-status.ts';

/** `GET /v1/runs/{runId}/events/poll`. Fields appear under the name of each published revision. */
export const pollAnswer = z
  .looseObject({
    runId: text.optional(),
    events: z.array(runEventDoc),
    isComplete: z.boolean(),
    /** -1 when the caller can see no event yet. */
    lastEventSeq: z.int().min(-1).optional(),
    runStatus: z.enum(runStatuses).optional(),
    isTerminal: z.boolean().optional(),
  })
  .meta({ id: 'PollAnswer' });

/** `GET /v1/runs/{runId}/events` for a caller that did not ask for a stream. */
export const eventsAnswer = z.looseObject({ events: z.array(runEventDoc) }).meta({ id: 'EventsAnswer' });

/** Seconds a poll may wait. */
export const POLL_TIMEOUT = { min: 1, max: 60, default: 30 } as const;

export type PollAnswer = DataOf<typeof pollAnswer>;
export type EventsAnswer = DataOf<typeof eventsAnswer>;
