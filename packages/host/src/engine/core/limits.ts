/** Run limits: the host's maximums, and the lower values a request or a definition may set. */
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import type { TenantLimits } from '../shares/tenant-shares.ts';
import type { RunLimits } from './state.ts';

/** The host's maximums; no run exceeds them. */
export interface HostLimits extends TenantLimits {
  /** Node executions per run, including retries. */
  readonly maxNodeExecutions: number;
  /** Wall-clock duration of a run; null for no limit. */
  readonly maxRunDurationMs: number | null;
  /** Maximum depth of nested runs. Default 8. */
  readonly maxRunDepth?: number | undefined;
  /** Maximum number of runs below one root run. Default 1000. */
  readonly maxRunsPerTree?: number | undefined;
  /** Bytes of a run's variables, outputs and channels. Default: no limit. */
  readonly maxRunStateBytes?: number | undefined;
  /** Bytes of a run's events. Default: no limit. */
  readonly maxRunLogBytes?: number | undefined;
  /** Bytes of all events of a tenant. Default: no limit. */
  readonly maxTenantLogBytes?: number | undefined;
  /** Cost of the expressions in one decision. Default 500,000. */
  readonly expressionCost?: number | undefined;
}

export const DEFAULT_RUN_DEPTH = 8;

/** A definition setting of 0 means no limit of its own; the host's limit still applies. */
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
