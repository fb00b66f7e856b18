/** Holds low-confidence decisions for human review: the threshold, the rule that sets it, and the rows that ask. */
import { type JsonObject, row, type ThresholdRule } from '@cairn/protocol';
import { askDrafts } from '../../engine/core/interrupts.ts';
import type { Draft } from '../../engine/core/state.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import type { LoopOptions } from './loop-options.ts';
import { type AgentDecision, shownJson, validConfidence } from './rows.ts';
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

/**
 * Returns exactly one action: `none` when no confidence is stated, or one that is high enough. A confidence that is no
 * number from 0 to 1 counts as 0 and is never high enough.
 */
export function escalation(
  context: NodeContext,
  stated: Stated,
  options: Pick<LoopOptions, 'lowConfidence'>,
): Escalation {
  if (stated.confidence === undefined) return { action: 'none' };
  const valid = validConfidence(stated.confidence);
  const observed = valid ?? 0;
  const { threshold, rule } = thresholdOf(context, stated.defaultThreshold);
  if (valid !== undefined && valid >= threshold) return { action: 'none' };
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
    resumeSchema: verdictSchema(returnSchema, whyHeld(stated, { threshold, rule })),
    suspended: { reason: 'low-confidence', ...data, rule },
  });
  return { action: 'ask', drafts };
}

const ruleNames: Readonly<Record<ThresholdRule, string>> = {
  'run-option': 'that this run was started with',
  manifest: "of the agent's manifest",
  default: 'that holds where nobody sets one',
};

function whyHeld({ agentId, confidence = null }: Stated, { threshold, rule }: Threshold): string {
  const valid = validConfidence(confidence);
  const reason =
    valid === undefined
      ? `${agentId} states its confidence as ${shownJson(confidence)}, which is no number from 0 to 1.`
      : `${agentId} is ${valid} sure of this decision, which is less than the threshold of ${threshold} ${ruleNames[rule]}.`;
  return `${reason} ${HOW_TO_ANSWER}`;
}

const HOW_TO_ANSWER =
  'Answer {"action":"approve"}, {"action":"edit","decision":…} or {"action":"reject","feedback":"…"}; with "final":true a rejection ends the node.';
