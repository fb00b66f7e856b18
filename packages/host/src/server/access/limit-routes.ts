/** `GET /v1/host/cairn/limits`, and the same figures of all tenants for the metrics. */
import { tenantLimits } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { TenantUsage } from '../../engine/shares/tenant-shares.ts';
import type { TenantFigures } from '../../telemetry/telemetry.ts';
import type { LimitsConfig } from '../config/access.ts';
import type { Route } from '../http/routes.ts';
import type { Gate } from './gate.ts';

export type ShareLimits = Pick<
  LimitsConfig,
  'maxActiveRunsPerTenant' | 'maxStartsPerSecondPerTenant' | 'maxOpenCallsPerTenant' | 'maxOpenStreamsPerTenant'
>;

export interface SharePorts {
  readonly engine: Pick<Engine, 'shares'>;
  readonly gate: Pick<Gate, 'limits'>;
  readonly limits: ShareLimits;
}

interface Used extends TenantUsage {
  readonly openStreams: number;
}

const usedHere = (tenant: string, { engine, gate }: SharePorts): Used => ({
  ...engine.shares.usage(tenant),
  openStreams: gate.limits.openStreams(tenant),
});

const usedOnAllNodes = (tenant: string, { engine, gate }: SharePorts): Used => ({
  ...engine.shares.usageOnAllNodes(tenant),
  openStreams: gate.limits.openStreamsOnAllNodes(tenant),
});

/** What a tenant may use and what it uses, by resource. */
function sharesOf(used: Used, { limits }: SharePorts) {
  const { activeRuns, recentStarts, openCalls, waitingCalls, openStreams } = used;
  return {
    activeRuns: { max: limits.maxActiveRunsPerTenant, used: activeRuns },
    startsPerSecond: { max: limits.maxStartsPerSecondPerTenant, used: recentStarts },
    openCalls: { max: limits.maxOpenCallsPerTenant, used: openCalls, waiting: waitingCalls },
    openStreams: { max: limits.maxOpenStreamsPerTenant, used: openStreams },
  };
}

/** The shares of every tenant with active runs or open calls on this node: the metrics of all nodes are added up. */
export function tenantFigures(ports: SharePorts): TenantFigures {
  const limits = Object.entries(sharesOf(usedHere('', ports), ports)).map(
    ([resource, { max }]) => [resource, max] as const,
  );
  const used = ports.engine.shares.tenants().map((tenant) => ({
    tenant,
    used: Object.fromEntries(
      Object.entries(sharesOf(usedHere(tenant, ports), ports)).map(([resource, { used }]) => [resource, used]),
    ),
  }));
  return { limits: Object.fromEntries(limits), used };
}

export const limitRoutes = (ports: SharePorts): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/host/cairn/limits',
    scope: 'runs:read',
    handle: async ({ caller: { tenant } }) =>
      JSON.stringify({ tenant, limits: sharesOf(usedOnAllNodes(tenant, ports), ports) }),
    doc: {
      id: 'getLimits',
      summary: 'The limits of the tenant, and what it uses of them',
      responses: { 200: { description: 'By resource.', shape: tenantLimits } },
    },
  },
];
