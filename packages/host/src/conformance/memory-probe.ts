/** The nodes of the published memory fixtures: an identity node that also does what its `memoryAction` says. Conformance mode only. */
import type { Json, JsonObject, RawEvent } from '@cairn/protocol';
import { TerminalError } from '@cairn/protocol';
import type { Draft, OpenCall, RunError } from '../engine/core/state.ts';
import { stepRequested } from '../engine/core/step-rows.ts';
import { identity } from '../engine/nodes/basic-nodes.ts';
import { MEMORY_PROBE_PERFORMER } from '../engine/performer-ids.ts';
import type { CallContext, Performer } from '../engine/ports.ts';
import type { CallResult, DrivenContext, NodeDriver, NodeType } from '../engine/workflow/node-type.ts';
import type { PerformerPorts } from '../server/host-extension.ts';
import { callInputOf, isProbe, type ProbeCall, type ProbePlan, planOf } from './probe-plans.ts';

interface Inner {
  /** Calls that were asked for. */
  asked: number;
  /** What came of those that are over; null for an entry that was refused, as some are meant to be. */
  results: Json[];
  failure: JsonObject | null;
}

type Context = DrivenContext<Inner>;

/** Stands in for `core.identity`; where nothing is to be probed it is nothing else. */
export const memoryProbe: NodeType = {
  ...identity,
  driver: {
    fresh: (): Inner => ({ asked: 0, results: [], failure: null }),
    evolve,
    next,
    callInput: (context, { callId }) => callInputOf(callOf(context, callId), context.node.agent?.agentId),
    returned,
    again: (_context, call) => [stepRequested({ ...call, attempt: call.attempt + 1 })],
  } satisfies NodeDriver<Inner> as unknown as NodeDriver,
  begin: (context) =>
    isProbe(context.node, context.compiled.definition) ? { kind: 'wait', drafts: [] } : identity.begin(context),
};

function evolve(inner: Inner, { type, payload }: RawEvent): void {
  if (type === 'cairn.step.requested' && payload.attempt === 1) inner.asked += 1;
  if (type !== 'cairn.step.returned') return;
  inner.results.push(payload.outcome ?? null);
  const error = payload.error as JsonObject | undefined;
  if (error !== undefined && error.code !== 'validation_error') inner.failure = error;
}

function next(context: Context) {
  const { inner, node, visit, attempt } = context;
  const { calls, variable, shows } = planFor(context);
  if (inner.failure !== null) return { kind: 'fail' as const, error: inner.failure as unknown as RunError };
  if (inner.asked > inner.results.length) return null;
  if (inner.asked < calls.length) {
    const callId = `${node.id}#${visit}.${attempt}/t${inner.asked}.0`;
    const call = { callId, nodeId: node.id, step: MEMORY_PROBE_PERFORMER, safety: 'idempotent' as const, attempt: 1 };
    return { kind: 'wait' as const, drafts: [stepRequested(call)], effects: [{ kind: 'step' as const, callId }] };
  }
  const listed = (inner.results.at(-1) ?? []) as readonly Json[];
  const value = shows === 'all' ? listed : (listed[0] ?? null);
  const payload: JsonObject = { name: variable, next: value, nodeId: node.id };
  const changed: Draft = { type: 'variable.changed', nodeId: node.id, audience: 'client', payload };
  return { kind: 'complete' as const, outputs: { [variable]: value }, drafts: [changed] };
}

const planFor = ({ node, runId, state }: Context): ProbePlan =>
  planOf({ node, runId, startedAt: state.active[node.id]?.startedAt ?? 0 });

/** The number of the turn is in its name. */
const callOf = (context: Context, callId: string): ProbeCall =>
  planFor(context).calls[Number(/\/t(\d+)\.0$/.exec(callId)?.[1])] as ProbeCall;

function returned({ node }: Context, { callId, attempt }: OpenCall, result: CallResult): readonly Draft[] {
  const { id: nodeId } = node;
  const came = 'given' in result ? { outcome: result.given } : (result as unknown as JsonObject);
  const payload = { nodeId, callId, attempt, ...came };
  return [{ type: 'cairn.step.returned', nodeId, audience: 'operator', payload }];
}

/** Makes the calls of probes. */
export const createProbePerformer = (ports: PerformerPorts): Performer => ({
  typeId: MEMORY_PROBE_PERFORMER,
  async run(input, context) {
    const { agentId, ...call } = input as unknown as ProbeCall & { readonly agentId: string };
    const { memory } = ports;
    const asCall = memoryCall(context, agentId);
    if (call.act === 'list') return (await memory.list(asCall, call.memoryRef, { tag: call.tag })) as unknown as Json;
    const content = `${call.content} ${secretOf(ports, context.tenant, call.secretId)}`.trim();
    const expiresAt = call.expiresAt === undefined ? undefined : Date.parse(call.expiresAt);
    return (await memory.put(asCall, call.memoryRef, { content, tags: call.tags, expiresAt })) as unknown as Json;
  },
});

function secretOf({ secret }: PerformerPorts, tenant: string, secretId: string | undefined): string {
  if (secretId === undefined) return '';
  const value = secret(tenant, secretId);
  if (value !== undefined) return value;
  throw new TerminalError('credential_forbidden', {
    message: `The host has no secret ${JSON.stringify(secretId)}.`,
    hint: 'Put it into the secrets of the configuration.',
  });
}

const memoryCall = (context: CallContext, agentId: string) => ({
  tenant: context.tenant,
  runId: context.runId,
  nodeId: context.nodeId,
  agentId,
  callId: context.callId,
  requestedSeq: context.requestedSeq,
  record: async (rows: Parameters<CallContext['emit']>[0]) => {
    await context.emit(rows);
    await context.recorded();
  },
});
