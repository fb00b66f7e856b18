/** What a run and all runs below it may use together: what it begins with, what is left, and what a run it starts gets. */
import { isJsonObject, type JsonObject, type RunId, row } from '@cairn/protocol';
import type { HostLimits } from '../core/limits.ts';
import type { Draft, RunError, RunState } from '../core/state.ts';
import { type Budget, plus, type Spent } from './account.ts';

/** Runs below one root, where the host does not say. */
export const DEFAULT_RUNS_PER_TREE = 1000;

/** What a root run may use: what its starter asks for in `configurable.budget`, within the host's ceiling. */
export function rootBudget({ budget }: JsonObject, host: HostLimits): Budget {
  const ceiling = host.maxRunsPerTree ?? DEFAULT_RUNS_PER_TREE;
  const asked: { -readonly [Name in keyof Budget]?: number } = {};
  for (const [name, value] of Object.entries(isJsonObject(budget) ? budget : {})) {
    if (isLimit(name) && typeof value === 'number') asked[name] = value;
  }
  return { ...asked, maxRuns: Math.min(asked.maxRuns ?? ceiling, ceiling) };
}

/** The least of each, and whether it is counted in wholes. */
const rules: Readonly<Record<keyof Budget, { readonly least: number; readonly isWhole: boolean }>> = {
  maxTokens: { least: 1, isWhole: true },
  maxCostUsd: { least: 0, isWhole: false },
  maxToolCalls: { least: 0, isWhole: true },
  maxRuns: { least: 0, isWhole: true },
};

const isLimit = (name: string): name is keyof Budget => Object.hasOwn(rules, name);

/** The ways in which `configurable.budget` is wrong. */
export function budgetProblems({ budget }: JsonObject): string[] {
  if (budget === undefined) return [];
  const what = 'configurable.budget';
  if (!isJsonObject(budget)) return [`${what} must be an object`];
  return Object.entries(budget).flatMap(([name, value]) => {
    if (!isLimit(name)) return [`${what}.${name} is not known; there are ${Object.keys(rules).join(', ')}`];
    const { least, isWhole } = rules[name];
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
export function budgetShare(state: Spender, runs: number, others: number): Budget | RunError {
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
function share(
  name: keyof Budget,
  limit: number | undefined,
  spent: number,
  parts: number,
  units = 1,
): Partial<Budget> {
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

export const budgetGranted = (nodeId: string, childRunId: RunId, budget: Budget): Draft =>
  row('cairn.budget.granted', { nodeId, childRunId, budget }, { nodeId });

export const budgetReturned = (nodeId: string, childRunId: RunId, spent: Spent): Draft =>
  row('cairn.budget.returned', { nodeId, childRunId, spent }, { nodeId });
