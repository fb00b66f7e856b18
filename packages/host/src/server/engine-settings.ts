/** The settings of the engine: its limits, its name as the owner of leases, and the ports of the system. */
import type { Clock, UniqueId } from '../engine/ports.ts';
import type { EngineOptions } from '../engine/stepping/engine-options.ts';
import type { ClusterNode } from './cluster/cluster-node.ts';
import { laterTurns, sha256, systemClock, systemEventLoop, uniqueId as systemId } from './compose.ts';
import type { HostConfig } from './config/config.ts';

export interface EngineSettings {
  readonly cluster: Pick<ClusterNode, 'node'>;
  readonly clock?: Clock | undefined;
  readonly uniqueId?: UniqueId | undefined;
}

/** What the configuration and the system determine of an engine. */
export const engineOptions = (
  { limits, visibility, agents, leaseMs }: HostConfig,
  { clock = systemClock, uniqueId = systemId, cluster }: EngineSettings,
): Pick<
  EngineOptions,
  | 'clock'
  | 'eventLoop'
  | 'longTurns'
  | 'uniqueId'
  | 'sha256'
  | 'owner'
  | 'leaseMs'
  | 'limits'
  | 'thoughtPolicy'
  | 'internalEvents'
> => ({
  clock,
  eventLoop: systemEventLoop,
  longTurns: laterTurns,
  uniqueId,
  sha256,
  owner: cluster.node,
  leaseMs,
  thoughtPolicy: thoughtPolicyOf(visibility),
  internalEvents: agents.internalEvents,
  limits: {
    maxNodeExecutions: limits.maxNodeExecutions,
    maxRunDurationMs: limits.maxRunDurationMs ?? null,
    maxRunDepth: limits.maxRunDepth,
    maxRunsPerTree: limits.maxRunsPerTree,
    expressionCost: limits.expressionCost,
    maxActiveRunsPerTenant: limits.maxActiveRunsPerTenant,
    maxStartsPerSecondPerTenant: limits.maxStartsPerSecondPerTenant,
    maxOpenCallsPerTenant: limits.maxOpenCallsPerTenant,
    maxRunStateBytes: limits.runStateBytes,
    maxRunLogBytes: limits.runLogBytes,
    maxTenantLogBytes: limits.tenantLogBytes,
  },
});

/** Recorded in each run, so that its faces can be computed again. */
const thoughtPolicyOf = ({ thoughts, minConfidence }: HostConfig['visibility']): EngineOptions['thoughtPolicy'] =>
  thoughts === 'client' && minConfidence === undefined
    ? undefined
    : {
        ...(thoughts === 'operator' && { visibility: thoughts }),
        ...(minConfidence !== undefined && { minConfidence }),
      };
