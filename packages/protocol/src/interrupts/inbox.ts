/** The inbox: every question that waits for somebody, at any depth, with the way down to it; as a list and as it changes. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, instant, jsonObject, ordinal, text } from '../fields.ts';
import { interruptKind } from './interrupts.ts';

/** One run on the way from the root down to a question, and where in it the way goes on. */
const inboxStep = z.looseObject({
  runId: text,
  workflowId: text,
  /** The node that started the next run; in the last one the node that asks. */
  nodeId: text,
  /** The agent that wanted the next run, or that asks. */
  agentId: text.optional(),
});

/** How far a decision of several has come. */
const quorumState = z.looseObject({
  required: ordinal,
  approvals: count,
  rejections: count,
  votes: z.array(z.looseObject({ principal: text, action: text })),
});

export const inboxEntry = z
  .looseObject({
    runId: text,
    interruptId: text,
    nodeId: text,
    workflowId: text,
    kind: interruptKind,
    /** What is asked, in the words of who asks; cut when it is long. */
    title: z.string(),
    /** All of it; left out, with `isCut`, when it is large. `GET /v1/runs/{runId}/interrupts` has it then. */
    data: jsonObject.optional(),
    resumeSchema: jsonObject.optional(),
    isCut: z.literal(true).optional(),
    agentId: text.optional(),
    requestedAt: instant,
    /** When it counts as rejected; absent when it waits for ever. */
    expiresAt: instant.optional(),
    /** Who may decide; absent when everybody may. */
    assignees: z.array(z.string()).optional(),
    quorum: quorumState.optional(),
    /** From the root run down to the one that asks. */
    path: z.array(inboxStep).min(1),
  })
  .meta({ id: 'InboxEntry' });

/** `GET /v1/host/cairn/inbox`: the oldest first. */
export const inboxPage = z
  .looseObject({ entries: z.array(inboxEntry), nextCursor: text.nullable() })
  .meta({ id: 'InboxPage' });

/** How a question ended: somebody answered, nobody did in time, or its node or run ended before. */
const inboxEnds = ['resolved', 'expired', 'cancelled'] as const;

/** One frame of the stream. A snapshot is all there is, and takes the place of whatever was known before. */
export const inboxChange = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('snapshot'),
      entries: z.array(inboxEntry),
      /** False when more wait than are followed; the list has all of them. */
      complete: z.boolean(),
    }),
    z.looseObject({ type: z.literal('added'), entry: inboxEntry }),
    z.looseObject({ type: z.literal('changed'), entry: inboxEntry }),
    z.looseObject({ type: z.literal('removed'), runId: text, interruptId: text, end: z.enum(inboxEnds) }),
  ])
  .meta({ id: 'InboxChange' });

export type InboxEntry = DataOf<typeof inboxEntry>;
export type InboxPage = DataOf<typeof inboxPage>;
export type InboxChange = DataOf<typeof inboxChange>;
