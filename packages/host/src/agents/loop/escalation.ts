/** Holds low-confidence decisions for human review: the threshold, the rule that sets it, and the rows that ask. */
import { type JsonObject, row, type ThresholdRule } from '@cairn/protocol';
import { askDrafts } from '../../engine/core/interrupts.ts';
import type { Draft } from '../../engine/core/state.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import type { LoopOptions } from './loop-options.ts';
import { type AgentDecision, validConfidence } from './rows.ts';
import { configurableOf } from './settings.ts';
import { verdictSchema } from './verdict.ts';

const DEFAULT_THRESHOLD = 0.7;

export interface Threshold {
  readonly threshold: number;
  readonly rule: ThresholdRule;
}

/** The run option, else the manifest's default, else 0.7. */
function thresholdOf(context: Pick<NodeContext, 'state' | 'node'>, manifest: number | undefined): Threshold {
  const asked = validConfidence(configurableOf(context).escalationThreshold);
  if (asked !== undefined) return { threshold: asked, rule: 'run-option' };
  return manifest === undefined
    ? { threshold: DEFAULT_THRESHOLD, rule: 'default' }
    : { threshold: manifest, rule: 'manifest' };
}

export interface Stated extends AgentDecision {
  readonly agentId: string;
  readonly defaultThreshold: number | undefined;
  readonly returnSchema: JsonObject | undefined;
}

export type Escalation =
  | { readonly action: 'none' }
  | { readonly action: 'suppressed'; readonly drafts: readonly Draft[] }
  | { readonly action: 'ask'; readonly drafts: readonly Draft[] };

/** Returns exactly one action: `none` when the confidence is missing, invalid or high enough. */
export function escalation(
  context: NodeContext,
  stated: Stated,
  options: Pick<LoopOptions, 'lowConfidence'>,
): Escalation {
  const observed = validConfidence(stated.confidence);
  const { threshold, rule } = thresholdOf(context, stated.defaultThreshold);
  if (observed === undefined || observed >= threshold) return { action: 'none' };
  const nodeId = context.node.id;
  if (options.lowConfidence === 'suppress') {
    const payload = { kind: 'confidence-escalation-suppressed', limit: threshold, observed, nodeId } as const;
    return { action: 'suppressed', drafts: [row('cap.breached', payload, { nodeId })] };
  }
  const { agentId, decision, returnSchema } = stated;
  const data = { agentId, threshold, observed, decision };
  const drafts = askDrafts(context.state, {
    nodeId,
    kind: 'low-confidence',
    data,
    resumeSchema: verdictSchema(returnSchema, whyHeld(agentId, observed, { threshold, rule })),
    suspended: { reason: 'low-confidence', ...data, rule },
  });
  return { action: 'ask', drafts };
}

const ruleNames: Readonly<Record<ThresholdRule, string>> = {
  'run-option': 'that this run was started with',
  manifest: "of the agent's manifest",
  default: 'that holds where nobody sets one',
};

const whyHeld = (agentId: string, observed: number, { threshold, rule }: Threshold): string =>
  `${agentId} is ${observed} sure of this decision, which is less than the threshold of ${threshold} ${ruleNames[rule]}. ` +
  'Answer {"action":"approve"}, {"action":"edit","decision":…} or {"action":"reject","feedback":"…"}; with "final":true a rejection ends the node.';
