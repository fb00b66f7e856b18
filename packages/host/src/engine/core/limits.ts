/** How much a run may use: the host's ceilings, and what a request or a definition may narrow. */
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import type { RunLimits } from './state.ts';

/** The host's ceilings; no run gets more. */
export interface HostLimits {
  /** Starts of nodes in one run, retries included. */
  readonly maxNodeExecutions: number;
  /** Wall clock of one run; null for no ceiling. */
  readonly maxRunDurationMs: number | null;
  /** How many runs may be above one another. Default 8. */
  readonly maxRunDepth?: number | undefined;
  /** How many runs may be below one root, all together. Default 1000. */
  readonly maxRunsPerTree?: number | undefined;
}

export const DEFAULT_RUN_DEPTH = 8;

/** Definition settings of 0 mean no limit of its own; the host's still holds. */
export function runLimits(definition: WorkflowDefinition, configurable: JsonObject, host: HostLimits): RunLimits {
  const spans = [configurable.runTimeoutMs, definition.settings.timeout, host.maxRunDurationMs].filter(
    (span): span is number => typeof span === 'number' && span > 0,
  );
  const asked = configurable.recursionLimit;
  return {
    maxNodeExecutions: Math.min(typeof asked === 'number' ? asked : host.maxNodeExecutions, host.maxNodeExecutions),
    timeoutMs: spans.length === 0 ? null : Math.min(...spans),
  };
}
