/** The retry and timeout settings of a node. They override those of its workflow. */
import { parseShape, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';
import { openButForTypos, withoutUnknown } from './closed-shapes.ts';

/** The maximum duration of a timer: a year. */
export const MAX_SPAN_MS = 31_536_000_000;

const spanMs = z.int().min(0).max(MAX_SPAN_MS).optional();

/** The part of a node's `settings` that this host reads. The protocol leaves the rest open. */
export const nodeSettings = openButForTypos({
  /** For one attempt; 0 means no limit. */
  timeoutMs: spanMs,
  retry: z
    .strictObject({
      /** Takes precedence over `maxRetries`. */
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
  // Earlier hosts ignored settings that they did not know.
  const settings = withoutUnknown(nodeSettings, node.settings ?? {});
  const { timeoutMs, retry = {} } = parseShape(nodeSettings, settings, `The settings of node ${node.id}`);
  const { maxAttempts, maxRetries, backoffMs = 1_000, factor = 2, maxBackoffMs = 60_000 } = retry;
  const own = maxAttempts === undefined ? maxRetries : maxAttempts - 1;
  return {
    retry: { maxRetries: own ?? definition.settings.maxRetries ?? 0, backoffMs, factor, maxBackoffMs },
    timeoutMs: timeoutMs || null,
  };
}

/** The delay before this retry (1 for the first). No jitter: a run must make the same decision every time. */
export const retryDelay = (policy: RetryPolicy, retry: number): number =>
  Math.round(Math.min(policy.maxBackoffMs, policy.backoffMs * policy.factor ** (retry - 1)));
