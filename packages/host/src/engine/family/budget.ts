/** The budget that a run shares with all runs below it: initial size, remainder, and the share of a child run. */
import { type CallBudget, isJsonObject, type JsonObject, type RunId, row } from '@cairn/protocol';
import type { HostLimits } from '../core/limits.ts';
import type { Draft, RunError, RunState } from '../core/state.ts';
import { type Budget, plus, type Spent } from './account.ts';

/** The default limit of runs below one root. */
export const DEFAULT_RUNS_PER_TREE = 1000;

/** The budget of a root run: the starter's `configurable.budget`, capped by the host's limit. */
export function rootBudget({ budget }: JsonObject, host: HostLimits): Budget {
  const ceiling = host.maxRunsPerTree ?? DEFAULT_RUNS_PER_TREE;
  const asked: { -readonly [Name in keyof Budget]?: number } = {};
  for (const [name, value] of Object.entries(isJsonObject(budget) ? budget : {})) {
    if (isLimit(name) && typeof value === 'number') asked[name] = value;
  }
  return { ...asked, maxRuns: Math.min(asked.maxRuns ?? ceiling, ceiling) };
}

/** The smaller of both in each limit: a caller on another host may take away, and never add. */
export function narrowed(budget: Budget, asked: CallBudget | undefined): Budget {
  if (asked === undefined) return budget;
  const least = (name: keyof Budget & keyof CallBudget): Partial<Budget> => {
    const given = [budget[name], asked[name]].filter((limit) => typeof limit === 'number');
    return given.length === 0 ? {} : { [name]: Math.min(...given) };
  };
  return {
    ...budget,
    ...least('maxTokens'),
    ...least('maxCostUsd'),
    ...least('maxToolCalls'),
    ...least('maxRuns'),
  };
}

/** The minimum of each limit, and whether it must be an integer. */
const rules: Readonly<Record<keyof Budget, { readonly least: number; readonly isWhole: boolean }>> = {
  maxTokens: { least: 1, isWhole: true },
  maxCostUsd: { least: 0, isWhole: false },
  maxToolCalls: { least: 0, isWhole: true },
  maxRuns: { least: 0, isWhole: true },
};

const isLimit = (name: string): name is keyof Budget => Object.hasOwn(rules, name);

/** Validates `configurable.budget` and returns its problems. */
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

/** The total used or reserved: by the run itself, by ended runs below it, and by the open loans of its children. */
export function spentBy({ account: { lent, below }, view: { usage, toolCallCount } }: Spender): Spent {
  const own = { tokens: usage.totalTokens, costUsd: usage.costUsd, toolCalls: toolCallCount, runs: 0 };
  return plus(own, plus(lent, below));
}

/**
 * The budget of each of `runs` new runs: an equal share of the remainder. Each of the `others`, which may be active at
 * the same time, counts as one share. A single run without others gets the whole remainder.
 */
export function budgetShare(state: Spender, runs: number, others: number): Budget | RunError {
  const { limits } = state.account;
  const spent = spentBy(state);
  const left = limits.maxRuns - spent.runs;
  if (runs > left) return tooManyRuns(limits.maxRuns, spent.runs + runs);
  const parts = runs + others;
  // Reserves one run for each share.
  return { ...sharesOf(limits, spent, parts), maxRuns: Math.max(0, Math.floor((left - parts) / parts)) };
}

const sharesOf = (limits: Budget, spent: Spent, parts: number): Partial<Budget> => ({
  ...share('maxTokens', limits.maxTokens, spent.tokens, parts),
  ...share('maxCostUsd', limits.maxCostUsd, spent.costUsd, parts, 1_000_000),
  ...share('maxToolCalls', limits.maxToolCalls, spent.toolCalls, parts),
});

/**
 * What a run that a call starts on another host may use: one of `parts` shares of the remainder. Nothing is lent: how
 * much such a run has used is only the word of that host.
 */
export function shareElsewhere(state: Spender, parts: number): CallBudget {
  const { limits } = state.account;
  const spent = spentBy(state);
  const runs = Math.max(0, Math.floor((limits.maxRuns - spent.runs) / parts));
  return { ...sharesOf(limits, spent, parts), maxRuns: runs };
}

/** Rounds down to whole units, so that the shares never add up to more than the remainder. */
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
