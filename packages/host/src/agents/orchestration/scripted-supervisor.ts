/** A supervisor that plays the decisions in its config, for tests of orchestration. */
import { type FoldEvent, type Json, type OrchestratorDecision, orchestratorDecision } from '@cairn/protocol';
import { z } from 'zod';
import type { ConfiguredNode, DrivenContext, NodeAction, NodeDriver } from '../../engine/workflow/node-type.ts';
import { escalation } from '../loop/escalation.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { decidedRow } from '../loop/rows.ts';
import { type Verdict, verdictOf } from '../loop/verdict.ts';

/** Config fields of a script. */
export const scriptFields = {
  mockDispatchPlan: z.array(orchestratorDecision).optional(),
  mockDecisions: z.array(orchestratorDecision).optional(),
  mockConfidence: z.number().min(0).max(1).optional(),
  mockPendingDecision: orchestratorDecision.optional(),
};

const script = z.object(scriptFields);
type Script = z.infer<typeof script>;

const fields = Object.keys(scriptFields);

export const hasScript = (config: Readonly<Record<string, unknown>>): boolean =>
  fields.some((name) => config[name] !== undefined);

/** True with a script, or without an agent to ask. */
export const isScripted = ({ node, config }: Pick<ConfiguredNode<Script>, 'node' | 'config'>): boolean =>
  hasScript(config) || node.agent === undefined;

/** The plan when nothing is scripted: one no-op worker, then terminate. */
const usualPlan = [
  { kind: 'next-worker' as const, nextWorkerIds: ['conformance-noop'] },
  { kind: 'terminate' as const, reason: 'goal-reached' },
];

export interface Scripted {
  /** A decision held for human review. */
  held: { readonly interruptId: string; readonly verdict: Verdict | null } | null;
}

export function scriptedDriver(options: LoopOptions): NodeDriver<Scripted, Script> {
  return {
    fresh: () => ({ held: null }),
    evolve(inner, event: FoldEvent) {
      if (event.type === 'interrupt.requested' && event.payload.kind === 'low-confidence') {
        inner.held = { interruptId: event.payload.interruptId ?? '', verdict: null };
      } else if (event.type === 'interrupt.resolved' && inner.held !== null) {
        const { resumeValue = null, reason } = event.payload;
        inner.held = { ...inner.held, verdict: verdictOf(null, resumeValue, reason === 'timeout') };
      }
    },
    next: (context) => decide(context, options),
    callInput: () => ({}),
    returned: () => [],
    again: () => [],
  };
}

function decide(context: DrivenContext<Scripted, Script>, options: LoopOptions): NodeAction | null {
  const { inner, node, state, config } = context;
  const decision = decisionOf(config, state.orchestration?.turns ?? 0);
  if (inner.held !== null) {
    const { verdict } = inner.held;
    if (verdict === null) return null;
    if (verdict.action === 'reject') {
      return {
        kind: 'fail',
        error: { code: 'decision_rejected', message: 'The decision was rejected.', retryable: false },
      };
    }
    return { kind: 'complete', outputs: { result: verdict.action === 'edit' ? verdict.decision : decision } };
  }
  const { mockConfidence } = config;
  if (mockConfidence === undefined) return { kind: 'complete', outputs: { result: decision } };
  const agentId = node.agent?.agentId ?? `host:orchestrator:${node.id}`;
  const stated = {
    decision,
    confidence: mockConfidence,
    agentId,
    defaultThreshold: context.agents.get(agentId)?.manifest.confidence?.defaultThreshold,
    returnSchema: undefined,
  };
  const row = decidedRow(node.id, agentId, stated);
  const held = escalation(context, stated, options);
  if (held.action === 'ask') return { kind: 'wait', drafts: [row, ...held.drafts] };
  const drafts = held.action === 'none' ? [row] : [row, ...held.drafts];
  return { kind: 'complete', outputs: { result: decision }, drafts };
}

/** A cast: omitted fields are absent after parsing, which zod's type does not express. */
export const asDecision = (parsed: z.infer<typeof orchestratorDecision>): OrchestratorDecision =>
  parsed as OrchestratorDecision;

/** Picks the decision by the number of earlier ones; terminates after the end of the plan. */
function decisionOf({ mockDispatchPlan, mockDecisions, mockPendingDecision }: Script, turn: number): Json {
  const plan = mockDispatchPlan ?? mockDecisions ?? usualPlan;
  return asDecision(mockPendingDecision ?? plan[turn] ?? { kind: 'terminate' });
}
