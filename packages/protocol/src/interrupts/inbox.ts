/** The inbox: all open interrupts of a tenant, at any depth, with the path from the root run; as a list and as a stream. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { instant, jsonObject, text } from '../fields.ts';
import { remoteCauses } from '../host/causation.ts';
import { interruptKind } from './interrupts.ts';
import { quorumState } from './open-interrupts.ts';

/** A run of another host, which requested the first run of this host on the path. */
const remoteStep = z.looseObject({
  runId: text,
  hostId: text,
  /** How it requested the run. */
  cause: z.enum(remoteCauses),
  /** The agent of that host that requested the run. */
  agentId: text.optional(),
});

/** One run of this host on the path from the root run to an interrupt. */
const inboxStep = z.looseObject({
  runId: text,
  workflowId: text,
  /** The node that started the next run on the path, or the node that asks. */
  nodeId: text,
  /** The agent that requested the next run on the path, or that asks. */
  agentId: text.optional(),
});

export const inboxEntry = z
  .looseObject({
    runId: text,
    interruptId: text,
    nodeId: text,
    workflowId: text,
    kind: interruptKind,
    /** The question as text, truncated if long. */
    title: z.string(),
    /** The full data. If it is large it is absent, `isCut` is set, and `GET /v1/runs/{runId}/interrupts` returns it. */
    data: jsonObject.optional(),
    resumeSchema: jsonObject.optional(),
    isCut: z.literal(true).optional(),
    agentId: text.optional(),
    requestedAt: instant,
    /** When it expires; absent if it never does. */
    expiresAt: instant.optional(),
    /** Who may decide; absent if anyone may. Of long lists of people and votes, the first ones, and `isCut` is set. */
    assignees: z.array(z.string()).optional(),
    quorum: quorumState.optional(),
    /** Where the question comes from, if another host asks it: the A2A peer and its task or the MCP server, and the run there as that host says. */
    remote: jsonObject.optional(),
    /** From the root run to the run that asks. It begins with a run of another host if that requested the first one. */
    path: z.array(z.union([inboxStep, remoteStep])).min(1),
  })
  .meta({ id: 'InboxEntry' });

/** `GET /v1/host/cairn/inbox`: the oldest first. */
export const inboxPage = z
  .looseObject({ entries: z.array(inboxEntry), nextCursor: text.nullable() })
  .meta({ id: 'InboxPage' });

/** How an interrupt ended: answered, expired, or cancelled with its node or run. */
const inboxEnds = ['resolved', 'expired', 'cancelled'] as const;

/** One frame of the stream. A snapshot replaces everything sent before it. */
export const inboxChange = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('snapshot'),
      entries: z.array(inboxEntry),
      /** False if the stream does not cover all open interrupts; the list does. */
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
