/** A node's own settings over its workflow's: how often it is tried again, how long to wait, how long it may take. */
import { parseShape, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';

/** Longest time a timer can be set for: a year. */
export const MAX_SPAN_MS = 31_536_000_000;

const spanMs = z.int().min(0).max(MAX_SPAN_MS).optional();

/** What this host reads of the `settings` of a node. */
export const nodeSettings = z.looseObject({
  /** For one attempt; 0 means no limit. */
  timeoutMs: spanMs,
  retry: z
    .looseObject({
      /** Counts before `maxRetries`. */
      maxAttempts: z.int().min(1).max(1_000).optional(),
      maxRetries: z.int().min(0).max(1_000).optional(),
      backoffMs: spanMs,
      factor: z.number().min(1).max(100).optional(),
      maxBackoffMs: spanMs,
    })
    .optional(),
});

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly factor: number;
  readonly maxBackoffMs: number;
}

export interface CompiledSettings {
  readonly retry: RetryPolicy;
  /** For one attempt; null for no limit. */
  readonly timeoutMs: number | null;
}

export function compileSettings(node: WorkflowNode, definition: WorkflowDefinition): CompiledSettings {
  const { timeoutMs, retry = {} } = parseShape(nodeSettings, node.settings ?? {}, `The settings of node ${node.id}`);
  const { maxAttempts, maxRetries, backoffMs = 1_000, factor = 2, maxBackoffMs = 60_000 } = retry;
  const own = maxAttempts === undefined ? maxRetries : maxAttempts - 1;
  return {
    retry: { maxRetries: own ?? definition.settings.maxRetries ?? 0, backoffMs, factor, maxBackoffMs },
    timeoutMs: timeoutMs || null,
  };
}

/** The wait before this retry (1 for the first). No randomness: a run must decide the same every time. */
export const retryDelay = (policy: RetryPolicy, retry: number): number =>
  Math.round(Math.min(policy.maxBackoffMs, policy.backoffMs * policy.factor ** (retry - 1)));
