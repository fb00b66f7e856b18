/** What the published memory fixtures ask a host to do, as calls one after the other, and which variable shows what came of it. */
import { invariant, isoTime, type JsonObject, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';

/** One call of a probe; each is a turn of its own, so that it sees what the ones before it wrote. */
const probeCall = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('put'),
    memoryRef: z.string(),
    content: z.string(),
    /** The secret whose value is a part of the content. */
    secretId: z.string().exactOptional(),
    tags: z.array(z.string()),
    expiresAt: z.string().exactOptional(),
  }),
  z.object({ act: z.literal('list'), memoryRef: z.string(), tag: z.string().exactOptional() }),
]);

export type ProbeCall = z.infer<typeof probeCall>;

export interface ProbePlan {
  readonly calls: readonly ProbeCall[];
  /** The variable that shows what the last call gave: all of it, or the newest entry. */
  readonly variable: string;
  readonly shows: 'all' | 'newest';
}

export interface ProbeStart {
  readonly node: WorkflowNode;
  readonly runId: string;
  /** When the probe began. */
  readonly startedAt: number;
}

const HOUR_MS = 3_600_000;

type Plan = (start: ProbeStart, memoryRef: string, tag: string) => ProbePlan;

const plans: Readonly<Record<string, Plan>> = {
  'write-then-read': (_start, memoryRef, tag) => ({
    calls: [
      { act: 'put', memoryRef, content: 'Conformance round trip.', tags: [tag] },
      { act: 'list', memoryRef, tag },
    ],
    variable: 'memoryReadback',
    shows: 'newest',
  }),
  'ttl-probe': ({ startedAt }, memoryRef, tag) => ({
    calls: [
      // Refused: that is the point.
      { act: 'put', memoryRef, content: 'Over.', tags: [tag], expiresAt: isoTime(startedAt - HOUR_MS) },
      { act: 'put', memoryRef, content: 'To come.', tags: [tag], expiresAt: isoTime(startedAt + HOUR_MS) },
      { act: 'list', memoryRef, tag },
    ],
    variable: 'memoryList',
    shows: 'all',
  }),
  'redaction-probe': ({ node }, memoryRef, tag) => ({
    calls: [
      { act: 'put', memoryRef, content: 'The key is', secretId: String(node.config.byokSecretId), tags: [tag] },
      { act: 'list', memoryRef, tag },
    ],
    variable: 'memoryReadback',
    shows: 'newest',
  }),
  'cross-tenant-probe': ({ node }) => ({
    calls: [{ act: 'list', memoryRef: String(node.config.probeMemoryRef) }],
    variable: 'crossTenantProbe',
    shows: 'all',
  }),
};

/** Whether a node is one of the fixtures' probes: in any other workflow such a configuration means nothing. */
export const isProbe = ({ config }: WorkflowNode, { id }: WorkflowDefinition): boolean =>
  id.startsWith('conformance-') && typeof config.memoryAction === 'string' && Object.hasOwn(plans, config.memoryAction);

/** Entries carry the run's own tag, so that a fixture run twice does not see the first time. */
export function planOf(start: ProbeStart): ProbePlan {
  const { node, runId } = start;
  const plan = plans[String(node.config.memoryAction)];
  invariant(plan !== undefined, 'memory-action-known', { nodeId: node.id });
  return plan(start, node.agent?.memoryRef ?? `conformance/${node.id}`, `run:${runId}`);
}

/** What a call is performed with; `agentId` is whom the node names. */
export const callInputOf = (call: ProbeCall, agentId = 'host:memory-probe'): JsonObject => ({ ...call, agentId });

export const parseCallInput = ({
  agentId,
  ...call
}: JsonObject): { readonly call: ProbeCall; readonly agentId: string } => ({
  call: probeCall.parse(call),
  agentId: String(agentId),
});
