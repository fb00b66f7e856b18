/** What a run and all runs below it may use together: what it begins with, what is left, and what a run it starts gets. */
import type { JsonObject, RunId } from '@cairn/protocol';
import type { HostLimits } from '../core/limits.ts';
import type { Draft, RunError, RunState } from '../core/state.ts';
import { type Budget, plus, type Spent } from './account.ts';

/** Runs below one root, where the host does not say. */
export const DEFAULT_RUNS_PER_TREE = 1000;

/** What a run may use that nobody above it gives something. */
export function rootBudget({ budget }: JsonObject, host: HostLimits): Budget {
  const ceiling = host.maxRunsPerTree ?? DEFAULT_RUNS_PER_TREE;
  const asked = (budget ?? {}) as unknown as Partial<Budget>;
  return { ...asked, maxRuns: Math.min(asked.maxRuns ?? ceiling, ceiling) };
}

/** The least of each, and whether it is counted in wholes. */
const rules: Readonly<Record<keyof Budget, { readonly least: number; readonly isWhole: boolean }>> = {
  maxTokens: { least: 1, isWhole: true },
  maxCostUsd: { least: 0, isWhole: false },
  maxToolCalls: { least: 0, isWhole: true },
  maxRuns: { least: 0, isWhole: true },
};

/** The ways in which `configurable.budget` is wrong. */
export function budgetProblems({ budget }: JsonObject): string[] {
  if (budget === undefined) return [];
  const what = 'configurable.budget';
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) return [`${what} must be an object`];
  return Object.entries(budget).flatMap(([name, value]) => {
    if (!Object.hasOwn(rules, name))
      return [`${what}.${name} is not known; there are ${Object.keys(rules).join(', ')}`];
    const { least, isWhole } = rules[name as keyof Budget];
    const fits = typeof value === 'number' && value >= least && (!isWhole || Number.isSafeInteger(value));
    return fits ? [] : [`${what}.${name} must be a ${isWhole ? 'whole ' : ''}number from ${least}`];
  });
}

type Spender = Pick<RunState, 'account' | 'view'>;

/** All that is used or promised: by the run itself, by those below it that have ended, and what the others may still use. */
export function spentBy({ account: { lent, below }, view: { usage, toolCallCount } }: Spender): Spent {
  const own = { tokens: usage.totalTokens, costUsd: usage.costUsd, toolCalls: toolCallCount, runs: 0 };
  return plus(own, plus(lent, below));
}

/**
 * What each of so many new runs gets: an equal share of what is left, where others who may be at work at the same time
 * count as one each. Alone it is all.
 */
export function shareOf(state: Spender, runs: number, others: number): Budget | RunError {
  const { limits } = state.account;
  const spent = spentBy(state);
  const left = limits.maxRuns - spent.runs;
  if (runs > left) return tooManyRuns(limits.maxRuns, spent.runs + runs);
  const parts = runs + others;
  return {
    ...share('maxTokens', limits.maxTokens, spent.tokens, parts),
    ...share('maxCostUsd', limits.maxCostUsd, spent.costUsd, parts, 1_000_000),
    ...share('maxToolCalls', limits.maxToolCalls, spent.toolCalls, parts),
    // Whoever else may start one keeps one.
    maxRuns: Math.max(0, Math.floor((left - parts) / parts)),
  };
}

/** Rounded down to whole units, so that all shares together are never more than there is. */
function share(name: keyof Budget, limit: number | undefined, spent: number, parts: number, units = 1): object {
  if (limit === undefined) return {};
  const left = Math.max(0, limit - spent);
  return { [name]: parts === 1 ? left : Math.floor((left * units) / parts) / units };
}

const tooManyRuns = (limit: number, observed: number): RunError => ({
  code: 'budget_exhausted',
  message: `This run may start ${limit} runs, with all those below them, and would have started ${observed}.`,
  details: { kind: 'budget-runs', limit, observed },
  retryable: false,
});

export const budgetGranted = (nodeId: string, childRunId: RunId, budget: Budget): Draft => ({
  type: 'cairn.budget.granted',
  nodeId,
  audience: 'operator',
  payload: { nodeId, childRunId, budget: { ...budget } },
});

export const budgetReturned = (nodeId: string, childRunId: RunId, spent: Spent): Draft => ({
  type: 'cairn.budget.returned',
  nodeId,
  audience: 'operator',
  payload: { nodeId, childRunId, spent: { ...spent } },
});
