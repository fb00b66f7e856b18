/** A node's own settings over its workflow's: how often it is tried again, how long to wait, how long it may take. */
import type { Json, JsonObject, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly factor: number;
  readonly maxBackoffMs: number;
}

export interface NodeSettings {
  readonly retry: RetryPolicy;
  /** For one attempt; null for no limit. */
  readonly timeoutMs: number | null;
}

/** Of settings that `settingsProblems` found no fault with. */
export function nodeSettings(node: WorkflowNode, definition: WorkflowDefinition): NodeSettings {
  const settings = node.settings ?? {};
  const retry = (settings.retry ?? {}) as JsonObject;
  const own = typeof retry.maxAttempts === 'number' ? retry.maxAttempts - 1 : retry.maxRetries;
  return {
    retry: {
      maxRetries: numberOr(own, definition.settings.maxRetries ?? 0),
      backoffMs: numberOr(retry.backoffMs, 1_000),
      factor: numberOr(retry.factor, 2),
      maxBackoffMs: numberOr(retry.maxBackoffMs, 60_000),
    },
    timeoutMs: numberOr(settings.timeoutMs, 0) || null,
  };
}

/** The wait before this retry (1 for the first). No randomness: a run must decide the same every time. */
export const retryDelay = (policy: RetryPolicy, retry: number): number =>
  Math.round(Math.min(policy.maxBackoffMs, policy.backoffMs * policy.factor ** (retry - 1)));

const numberOr = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

/** Longest time a timer can be set for: a year. */
export const MAX_SPAN_MS = 31_536_000_000;

export function settingsProblems(settings: JsonObject): string[] {
  const problems: string[] = [];
  const check = (name: string, value: Json | undefined, from: number, to: number, whole: boolean) => {
    if (value === undefined) return;
    const fits = typeof value === 'number' && value >= from && value <= to && (!whole || Number.isInteger(value));
    if (!fits) problems.push(`settings.${name} must be a ${whole ? 'whole ' : ''}number from ${from} to ${to}`);
  };
  check('timeoutMs', settings.timeoutMs, 0, MAX_SPAN_MS, true);
  const retry = settings.retry;
  if (retry === undefined) return problems;
  if (typeof retry !== 'object' || retry === null || Array.isArray(retry)) {
    return [...problems, 'settings.retry must be an object'];
  }
  const policy = retry as JsonObject;
  check('retry.maxAttempts', policy.maxAttempts, 1, 1_000, true);
  check('retry.maxRetries', policy.maxRetries, 0, 1_000, true);
  check('retry.backoffMs', policy.backoffMs, 0, MAX_SPAN_MS, true);
  check('retry.factor', policy.factor, 1, 100, false);
  check('retry.maxBackoffMs', policy.maxBackoffMs, 0, MAX_SPAN_MS, true);
  return problems;
}
