/** The bodies of `POST /v1/runs/{runId}:fork` and `:retry` (closed), and their answer. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, json, jsonObject, text } from '../fields.ts';
import { MAX_ID_LENGTH } from '../ids.ts';
import { forkModes } from './fork-modes.ts';
import { runOptions } from './run-options.ts';
import { runStatuses } from './run-status.ts';

/** What a branch does with a call after the cut. */
export const callUses = ['reuse', 'ask', 'live'] as const;
export type CallUse = (typeof callUses)[number];

/** Most rules of a branch. Every call is compared with them in order. */
export const MAX_CALL_RULES = 50;

/** Largest overlay of a branch as JSON, in UTF-8 bytes. It is part of one event. */
export const MAX_OVERLAY_BYTES = 131_072;

/** `*`, `tool:NAME`, `step:NAME` or `model:NAME`; the name may be `*` too. */
const callPattern = /^(?:\*|(?:tool|step|model):\S+)$/;

export const callRule = z
  .strictObject({
    calls: z
      .string()
      .max(256)
      .regex(callPattern, 'must be *, tool:NAME, step:NAME or model:NAME')
      .describe('The calls it is about: `*`, or `tool:`, `step:` or `model:` and a name or `*`.'),
    use: z
      .enum(callUses)
      .describe('`reuse` takes the recorded result of an unchanged request, `ask` asks a person, `live` calls.'),
  })
  .meta({ id: 'CallRule' });

const forkOverlay = z
  .strictObject({
    inputs: jsonObject.optional().describe('Replaces these inputs, and the variables of the same names at the cut.'),
    prompts: z
      .record(z.string().min(1).max(256), z.string().max(65_536))
      .optional()
      .describe('System prompts by agentId, or by the id of a node without an agent.'),
    answer: z
      .strictObject({
        interruptId: text.max(MAX_ID_LENGTH).optional(),
        nodeId: text.max(MAX_ID_LENGTH).optional(),
        value: json,
      })
      .optional()
      .describe('Answers a question that is open at the cut; by the id of the interrupt or of its node.'),
    result: z
      .strictObject({ callId: text.max(MAX_ID_LENGTH), value: json })
      .optional()
      .describe('The result of a tool or step call that is open at the cut.'),
  })
  .meta({ id: 'ForkOverlay' });

export const forkRun = z
  .strictObject({
    mode: z.enum(forkModes),
    fromSeq: count.optional().describe('The first event that is not shared. Required for `branch`; 0 for `replay`.'),
    runOptionsOverlay: z.strictObject(runOptions.shape).optional().describe('`branch` only: replaces run options.'),
    cairn: z
      .strictObject({
        rules: z.array(callRule).max(MAX_CALL_RULES).optional().describe('The first that matches a call decides.'),
        overlay: forkOverlay.optional(),
        tree: z
          .boolean()
          .optional()
          .describe('Of a child run: also cuts the runs above it, which go on with the fork. Else it becomes a root.'),
      })
      .optional()
      .describe('Cairn, `branch` only: what changes at the cut, and how calls after it are made.'),
  })
  .meta({ id: 'ForkRun', examples: [{ mode: 'branch', fromSeq: 12 }] });

export const runForked = z
  .looseObject({
    runId: text,
    sourceRunId: text,
    fromSeq: count,
    mode: z.enum(forkModes),
    status: z.enum(runStatuses),
    eventsUrl: text,
    contextId: text.optional(),
  })
  .meta({ id: 'RunForked' });

/** `POST /v1/runs/{runId}:retry`: a branch at the failed node. */
export const retryRun = z
  .strictObject({
    runOptionsOverlay: z.strictObject(runOptions.shape).optional().describe('Replaces run options.'),
    cairn: z
      .strictObject({
        rules: z.array(callRule).max(MAX_CALL_RULES).optional(),
        overlay: forkOverlay.pick({ inputs: true, prompts: true }).optional(),
        tree: z.boolean().optional(),
      })
      .optional(),
  })
  .meta({ id: 'RetryRun' });

export type CallRule = DataOf<typeof callRule>;
export type ForkOverlay = DataOf<typeof forkOverlay>;
export type ForkRun = DataOf<typeof forkRun>;
export type RunForked = DataOf<typeof runForked>;
export type RetryRun = DataOf<typeof retryRun>;
