/** The nodes of the published memory fixtures: identity nodes that also run their `memoryAction`. Conformance only. */
import { type FoldEvent, invariant, type Json, row, TerminalError } from '@cairn/protocol';
import { placeOf, toolCallId, turnId } from '../agents/loop/calls/call-ids.ts';
import type { Draft, OpenCall, RunError } from '../engine/core/state.ts';
import { stepRequested } from '../engine/core/step-rows.ts';
import { identity } from '../engine/nodes/basic-nodes.ts';
import { MEMORY_PROBE_PERFORMER } from '../engine/performer-ids.ts';
import type { CallContext, Performer } from '../engine/ports.ts';
import type { CallResult } from '../engine/workflow/driven-calls.ts';
import {
  type DrivenContext,
  defineNodeType,
  type NodeAction,
  type NodeDriver,
  type NodeType,
} from '../engine/workflow/node-type.ts';
import type { PerformerPorts } from '../server/host-extension.ts';
import { callInputOf, isProbe, type ProbeCall, type ProbePlan, parseCallInput, planOf } from './probe-plans.ts';

interface Inner {
  /** Number of requested calls. */
  asked: number;
  /** Results of finished calls; null for a rejected entry, which some fixtures expect. */
  results: Json[];
  failure: RunError | null;
}

type Context = DrivenContext<Inner>;

const driver: NodeDriver<Inner> = {
  fresh: () => ({ asked: 0, results: [], failure: null }),
  evolve,
  next,
  callInput: (context) =>
    callInputOf(currentCall(context), turnId(placeOf(context), context.inner.asked - 1), context.node.agent?.agentId),
  returned,
  again: (_context, call) => [stepRequested({ ...call, attempt: call.attempt + 1 })],
};

/** Replaces `core.identity`, and behaves like it for nodes that are no probes. */
export const memoryProbe: NodeType = defineNodeType({
  ...identity,
  driver,
  begin: (context) =>
    isProbe(context.node, context.compiled.definition) ? { kind: 'wait', drafts: [] } : identity.begin(context),
});

function evolve(inner: Inner, event: FoldEvent): void {
  if (event.type === 'cairn.step.requested' && event.payload.attempt === 1) inner.asked += 1;
  if (event.type !== 'cairn.step.returned') return;
  const { outcome = null, error } = event.payload;
  inner.results.push(outcome);
  if (error !== undefined && error.code !== 'validation_error') inner.failure = error;
}

function next(context: Context): NodeAction | null {
  const { inner, node } = context;
  const { calls, variable, shows } = planFor(context);
  if (inner.failure !== null) return { kind: 'fail', error: inner.failure };
  if (inner.asked > inner.results.length) return null;
  if (inner.asked < calls.length) {
    const callId = toolCallId(turnId(placeOf(context), inner.asked), 0);
    const call = { callId, nodeId: node.id, step: MEMORY_PROBE_PERFORMER, safety: 'idempotent' as const, attempt: 1 };
    return { kind: 'wait', drafts: [stepRequested(call)], effects: [{ kind: 'step', callId }] };
  }
  const listed = inner.results.at(-1);
  const entries: readonly Json[] = Array.isArray(listed) ? listed : [];
  const value = shows === 'all' ? entries : (entries[0] ?? null);
  const changed = row('variable.changed', { name: variable, next: value, nodeId: node.id }, { nodeId: node.id });
  return { kind: 'complete', outputs: { [variable]: value }, drafts: [changed] };
}

const planFor = ({ node, runId, state }: Context): ProbePlan =>
  planOf({ node, runId, startedAt: state.active[node.id]?.startedAt ?? 0 });

/** The last requested call; probes make one call at a time. */
function currentCall(context: Context): ProbeCall {
  const call = planFor(context).calls[context.inner.asked - 1];
  invariant(call !== undefined, 'probe-call-planned', { nodeId: context.node.id });
  return call;
}

function returned({ node }: Context, { callId, attempt }: OpenCall, result: CallResult): readonly Draft[] {
  const { id: nodeId } = node;
  const came = 'given' in result ? { outcome: result.given } : result;
  return [row('cairn.step.returned', { nodeId, callId, attempt, ...came }, { nodeId })];
}

/** Performs the calls of probes. */
export const createProbePerformer = (ports: PerformerPorts): Performer => ({
  typeId: MEMORY_PROBE_PERFORMER,
  async run(input, context) {
    const { agentId, turn, call } = parseCallInput(input);
    const { memory } = ports;
    const asCall = memoryCall(context, agentId, turn);
    if (call.act === 'list') {
      const entries = await memory.list(asCall, call.memoryRef, { tag: call.tag });
      return entries.map((entry) => ({ ...entry }));
    }
    const content = withSecret(call.content, call.secretId, (secretId) => secretOf(ports, context.tenant, secretId));
    const expiresAt = call.expiresAt === undefined ? undefined : Date.parse(call.expiresAt);
    return { ...(await memory.put(asCall, call.memoryRef, { content, tags: call.tags, expiresAt })) };
  },
});

/**
 * Adds a secret to the content, and masks it as the protocol asks for a secret that a run resolved itself: with the id
 * that the run gave. The redaction of the host comes later and names nothing.
 */
function withSecret(content: string, secretId: string | undefined, secretOf: (secretId: string) => string): string {
  if (secretId === undefined) return content.trim();
  const value = secretOf(secretId);
  return `${content} ${value}`.trim().replaceAll(value, `[REDACTED:${secretId}]`);
}

function secretOf({ secret }: PerformerPorts, tenant: string, secretId: string): string {
  const value = secret(tenant, secretId);
  if (value !== undefined) return value;
  throw new TerminalError('credential_forbidden', {
    message: `The host has no secret ${JSON.stringify(secretId)}.`,
    hint: 'Put it into the secrets of the configuration.',
  });
}

const memoryCall = (context: CallContext, agentId: string, turn: string) => ({
  tenant: context.tenant,
  runId: context.runId,
  nodeId: context.nodeId,
  agentId,
  callId: context.callId,
  turnId: turn,
  requestedSeq: context.requestedSeq,
  record: async (rows: Parameters<CallContext['emit']>[0]) => {
    await context.emit(rows);
    await context.recorded();
  },
});
