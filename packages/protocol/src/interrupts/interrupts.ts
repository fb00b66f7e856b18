/** The kinds of interrupt and the data that each carries. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { agentId, count, instant, json, jsonObject, ordinal, share, text } from '../fields.ts';

export const interruptKinds = [
  'approval',
  'clarification',
  'external-event',
  'custom',
  'conversation.start',
  'conversation.exchange',
  'conversation.close',
  'low-confidence',
] as const;
export const interruptKind = z.enum(interruptKinds);
export type InterruptKind = (typeof interruptKinds)[number];

export const approvalActions = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;
export type ApprovalAction = (typeof approvalActions)[number];

/** The `contextType` of a clarification that only the originating user may answer. */
export const REQUIRE_USER = 'cairn.require-user';

/** The `eventType` of a sign-in that the host carries out. */
export const SIGN_IN_EVENT = 'cairn.sign-in';

/** The `eventType` of a tool call that the client executes. Its correlation names `toolCallId`, `toolName` and `arguments`. */
export const CLIENT_TOOL_EVENT = 'cairn.client-tool';

const names = z.array(z.string());
const conversationId = text.max(256);

/** One question of a clarification (closed). */
const clarificationQuestion = z.strictObject({
  id: text,
  question: text,
  schema: jsonObject.optional(),
});

/** The data of each kind; approvals are open, the rest closed. */
export const interruptData = {
  approval: z.looseObject({
    artifactId: text,
    artifactType: text,
    title: text,
    actions: z.array(z.enum(approvalActions)).min(1),
    description: z.string().optional(),
    artifactData: json.optional(),
    /** Default 1. */
    requiredApprovals: ordinal.optional(),
    approversList: names.optional(),
    /** Default `single-veto`. */
    rejectionPolicy: z.enum(['single-veto', 'majority']).optional(),
    overrideBypassesQuorum: z.boolean().optional(),
    approverGroupRefs: names.optional(),
    approverRoleRefs: names.optional(),
    audience: z
      .strictObject({ subjects: names.optional(), groups: names.optional(), roles: names.optional() })
      .optional(),
  }),
  clarification: z.strictObject({
    questions: z.array(clarificationQuestion).min(1),
    contextType: z.string().optional(),
  }),
  'external-event': z.strictObject({ eventType: z.string(), correlation: jsonObject }),
  custom: z.strictObject({ customKind: text, payload: json.optional() }),
  'conversation.start': z.strictObject({
    conversationId,
    title: z.string().optional(),
    initialPrompt: z.string().optional(),
  }),
  'conversation.exchange': z.strictObject({
    conversationId,
    prompt: text,
    outcomeSchema: jsonObject.optional(),
    turnIndex: count.optional(),
  }),
  'conversation.close': z.strictObject({ conversationId, reason: z.string().optional() }),
  'low-confidence': z.strictObject({ agentId, threshold: share, observed: share, decision: json.optional() }),
} as const satisfies Record<InterruptKind, z.ZodType>;

export type InterruptData<Kind extends InterruptKind> = DataOf<(typeof interruptData)[Kind]>;
export type ApprovalData = InterruptData<'approval'>;
export type ClarificationQuestion = DataOf<typeof clarificationQuestion>;

const key = text.max(256);
const resumeSchema = jsonObject.optional();
const timeoutMs = count.optional();
const shape = <Kind extends InterruptKind>(kind: Kind) => ({
  kind: z.literal(kind),
  key,
  data: interruptData[kind] as (typeof interruptData)[Kind],
  resumeSchema,
  timeoutMs,
});

/** InterruptPayload: a question, with data that matches its kind (closed). */
export const interruptPayload = z
  .discriminatedUnion('kind', [
    z.strictObject(shape('approval')),
    z.strictObject(shape('clarification')),
    z.strictObject(shape('external-event')),
    z.strictObject(shape('custom')),
    z.strictObject(shape('conversation.start')),
    z.strictObject(shape('conversation.exchange')),
    z.strictObject(shape('conversation.close')),
    z.strictObject(shape('low-confidence')),
  ])
  .meta({ id: 'InterruptPayload' });

export type InterruptPayload = DataOf<typeof interruptPayload>;

export const urgencies = ['low', 'medium', 'high'] as const;
export type Urgency = (typeof urgencies)[number];

/** The payload of `interrupt.requested`: an InterruptPayload with its run and node. */
export const interruptRequested = z.looseObject({
  runId: text.optional(),
  nodeId: text.optional(),
  interruptId: text.optional(),
  kind: interruptKind,
  key,
  data: jsonObject,
  resumeSchema,
  timeoutMs,
  requestedAt: instant.optional(),
  /** The agent that asks. */
  agentId: text.optional(),
  /** An agent of a run above is asked before people are. */
  routedTo: z.literal('agent').optional(),
  /** How soon an answer is needed. */
  urgency: z.enum(urgencies).optional(),
});
