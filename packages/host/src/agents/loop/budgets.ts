/** Budgets of an agent node. The loop checks the node's limits and the run's before each call, never after. */
import { type Json, row, TerminalError } from '@cairn/protocol';
import type { Draft, RunError } from '../../engine/core/state.ts';
import type { Budget } from '../../engine/family/account.ts';
import { spentBy } from '../../engine/family/budget.ts';
import type { AgentConfig, AgentContext } from './agent-config.ts';
import type { LoopState } from './state/loop-state.ts';

/** Default limit of model turns per node. */
const DEFAULT_MAX_TURNS = 16;

export interface Breach {
  readonly kind: 'loop-iterations' | 'budget-tokens' | 'budget-cost' | 'budget-tool-calls';
  readonly limit: number;
  /** Always above the limit: the amount spent, or the amount after the next call. */
  readonly observed: number;
  readonly whose: 'node' | 'run';
}

/** Explains why a cost limit cannot be enforced; null when neither node nor run sets one. */
export const unpriced = ({ limits }: Pick<AgentConfig, 'limits'>, budget: Budget, model: string): string | null =>
  limits?.maxCostUsd === undefined && budget.maxCostUsd === undefined
    ? null
    : `maxCostUsd is set and the price of ${model} is not known`;

/** Throws when a cost limit is set and the model has no known price, before anything is spent. */
export function checkPrice(context: AgentContext, isPriced: boolean, model: string): void {
  const { node, config, state } = context;
  const problem = isPriced ? null : unpriced(config, state.account.limits, model);
  if (problem === null) return;
  throw new TerminalError('config_validation_failed', {
    message: `Node ${node.id} cannot keep its budget: ${problem}.`,
    hint: 'Give the prices of the model in the configuration (models), or limit tokens instead.',
    details: { nodeId: node.id, problems: [problem] },
  });
}

/** The limit that one more model turn would exceed, or null. */
export function turnBreach(context: AgentContext, loop: LoopState): Breach | null {
  const { limits = {} } = context.config;
  const budget = context.state.account.limits;
  const all = spentBy(context.state);
  const { maxTurns = DEFAULT_MAX_TURNS } = limits;
  if (loop.turns >= maxTurns) {
    return { kind: 'loop-iterations', limit: maxTurns, observed: loop.turns + 1, whose: 'node' };
  }
  return (
    spent('budget-tokens', limits.maxTokens, loop.tokens, 'node') ??
    spent('budget-tokens', budget.maxTokens, all.tokens, 'run') ??
    spent('budget-cost', limits.maxCostUsd, loop.costUsd, 'node') ??
    spent('budget-cost', budget.maxCostUsd, all.costUsd, 'run')
  );
}

/** The smallest amount to report above a limit that is reached exactly. */
const more = { 'budget-tokens': 1, 'budget-cost': 1e-6 } as const;

function spent(
  kind: keyof typeof more,
  limit: Json | undefined,
  amount: number,
  whose: Breach['whose'],
): Breach | null {
  if (typeof limit !== 'number' || amount < limit) return null;
  return { kind, limit, observed: amount > limit ? amount : limit + more[kind], whose };
}

/** The limit that this many more tool calls would exceed, or null. */
export function toolBreach(context: AgentContext, loop: LoopState, calls: number): Breach | null {
  const limit = context.config.limits?.maxToolCalls;
  const budget = context.state.account.limits.maxToolCalls;
  const own = loop.toolCalls + calls;
  const whole = spentBy(context.state).toolCalls + calls;
  if (limit !== undefined && own > limit) {
    return { kind: 'budget-tool-calls', limit, observed: own, whose: 'node' };
  }
  if (typeof budget === 'number' && whole > budget) {
    return { kind: 'budget-tool-calls', limit: budget, observed: whole, whose: 'run' };
  }
  return null;
}

/** These kinds are about the run, so the payload names no node. The row still belongs to one. */
export const breachRow = (nodeId: string, { kind, limit, observed }: Breach): Draft =>
  row('cap.breached', { kind, limit, observed }, { nodeId });

export const breachError = (nodeId: string, { kind, limit, whose }: Breach): RunError => ({
  code: kind === 'loop-iterations' ? 'loop_limit_exceeded' : 'budget_exhausted',
  message: `Node ${nodeId} stopped before its next call: the ${whose}'s limit of ${limit} for ${kind} is used up.`,
  details: { kind, limit, whose },
  retryable: false,
});
