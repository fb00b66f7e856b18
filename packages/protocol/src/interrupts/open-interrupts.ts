/** Open interrupts as answerers read them, and the tokens that let someone answer without an API key. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, instant, jsonObject, ordinal, text } from '../fields.ts';
import { interruptKind, interruptRequested } from './interrupts.ts';

/** The progress of an approval that needs several approvers. */
export const quorumState = z.looseObject({
  required: ordinal,
  approvals: count,
  rejections: count,
  votes: z.array(z.looseObject({ principal: text, action: text, feedback: z.string().optional() })),
});

/** An open interrupt: the InterruptPayload with its place and its times (open). `GET /v1/interrupts/{token}` answers with one. */
export const openInterrupt = z
  .looseObject({
    ...interruptRequested.shape,
    runId: text,
    nodeId: text,
    interruptId: text,
    data: jsonObject,
    requestedAt: instant,
    /** When it expires; absent if it never does. */
    expiresAt: instant.optional(),
    /** Who may decide; absent if anyone may. Like the next two, only in the list of a run. */
    assignees: z.array(z.string()).optional(),
    quorum: quorumState.optional(),
    /** The error that any answer of this caller would get; absent if the caller may answer. */
    refusal: z.looseObject({ code: text, message: text }).optional(),
  })
  .meta({ id: 'OpenInterrupt' });

/** `GET /v1/runs/{runId}/interrupts`, the oldest first. */
export const openInterrupts = z.looseObject({ interrupts: z.array(openInterrupt) }).meta({ id: 'OpenInterrupts' });

/** `GET /v1/host/cairn/interrupts`: the open interrupts of all runs of the tenant, oldest first. */
export const pendingInterrupts = z
  .looseObject({
    interrupts: z.array(
      z.looseObject({
        runId: text,
        workflowId: text,
        nodeId: text,
        interruptId: text,
        kind: interruptKind,
        requestedAt: instant,
      }),
    ),
    nextCursor: text.nullable(),
  })
  .meta({ id: 'PendingInterrupts' });

export const tokenIntents = ['resolve', 'inspect'] as const;
export type TokenIntent = (typeof tokenIntents)[number];

/** Maximum lifetime of a token in seconds: one day. */
export const MAX_TOKEN_SECONDS = 86_400;

/** `POST /v1/host/cairn/runs/{runId}/interrupts/{nodeId}/token` (closed). */
export const mintInterruptToken = z
  .strictObject({
    /** Default `resolve`, which may also inspect. */
    intent: z.enum(tokenIntents).optional(),
    /** Default 1800; never beyond the interrupt's own end. */
    expiresInSeconds: z.int().min(1).max(MAX_TOKEN_SECONDS).optional(),
  })
  .meta({ id: 'MintInterruptToken' });

export const interruptToken = z
  .looseObject({
    token: text,
    /** Where it is used: GET inspects, POST answers. */
    url: text,
    intent: z.enum(tokenIntents),
    interruptId: text,
    expiresAt: instant,
  })
  .meta({ id: 'InterruptToken' });

/** `POST /v1/interrupts/{token}`. A token holder learns nothing else. */
export const interruptResolved = z.strictObject({}).meta({ id: 'InterruptResolved' });

/** The body of the POST to a run's `callbackUrl` when the run waits. */
export const interruptCallback = z
  .looseObject({ runId: text, interrupt: openInterrupt, token: text, url: text, expiresAt: instant })
  .meta({ id: 'InterruptCallback' });

export type OpenInterrupt = DataOf<typeof openInterrupt>;
export type OpenInterrupts = DataOf<typeof openInterrupts>;
export type PendingInterrupts = DataOf<typeof pendingInterrupts>;
export type MintInterruptToken = DataOf<typeof mintInterruptToken>;
export type InterruptToken = DataOf<typeof interruptToken>;
export type InterruptCallback = DataOf<typeof interruptCallback>;
