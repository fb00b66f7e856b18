/** The calls that each published memory fixture makes, in order, and the variable that shows the result. */
import { invariant, isoTime, type JsonObject, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';

/** One call of a probe. Each is a separate turn, so that it sees earlier writes. */
const probeCall = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('put'),
    memoryRef: z.string(),
    content: z.string(),
    /** The secret whose value is appended to the content. */
    secretId: z.string().exactOptional(),
    tags: z.array(z.string()),
    expiresAt: z.string().exactOptional(),
  }),
  z.object({ act: z.literal('list'), memoryRef: z.string(), tag: z.string().exactOptional() }),
]);

export type ProbeCall = z.infer<typeof probeCall>;

export interface ProbePlan {
  readonly calls: readonly ProbeCall[];
  /** The variable that shows the result of the last call: all entries, or the newest one. */
  readonly variable: string;
  readonly shows: 'all' | 'newest';
}

export interface ProbeStart {
  readonly node: WorkflowNode;
  readonly runId: string;
  /** When the probe started. */
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
      // Must be rejected: the entry has expired.
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

/** Whether a node is a fixture's probe. In any other workflow this configuration has no effect. */
export const isProbe = ({ config }: WorkflowNode, { id }: WorkflowDefinition): boolean =>
  id.startsWith('conformance-') && typeof config.memoryAction === 'string' && Object.hasOwn(plans, config.memoryAction);

/** Tags entries with the run id, so that a repeated fixture does not see earlier runs. */
export function planOf(start: ProbeStart): ProbePlan {
  const { node, runId } = start;
  const plan = plans[String(node.config.memoryAction)];
  invariant(plan !== undefined, 'memory-action-known', { nodeId: node.id });
  return plan(start, node.agent?.memoryRef ?? `conformance/${node.id}`, `run:${runId}`);
}

/** The input of a call; `agentId` is the agent that the node names. */
export const callInputOf = (call: ProbeCall, turn: string, agentId = 'host:memory-probe'): JsonObject => ({
  ...call,
  turn,
  agentId,
});

interface ProbeInput {
  readonly call: ProbeCall;
  readonly turn: string;
  readonly agentId: string;
}

export const parseCallInput = ({ agentId, turn, ...call }: JsonObject): ProbeInput => ({
  call: probeCall.parse(call),
  turn: String(turn),
  agentId: String(agentId),
});
