/** The books of a run: what it and the runs below it may use, what is lent to those, and what they have used. */
import type { PayloadOf, RunId } from '@cairn/protocol';

/** What is not named has no limit. */
export type Budget = PayloadOf<'cairn.budget.granted'>['budget'];

/** What was used. */
export type Spent = PayloadOf<'cairn.budget.returned'>['spent'];

/** The part of a run's state that keeps account. */
export interface Account {
  readonly limits: Budget;
  /** What each run that was started and has not ended may use. */
  readonly loans: Record<RunId, Budget>;
  /** Those loans together; each of those runs is one itself. */
  lent: Spent;
  /** What runs that have ended used, with all below them. */
  below: Spent;
}

export const nothingSpent: Spent = { tokens: 0, costUsd: 0, toolCalls: 0, runs: 0 };

export const newAccount = (limits: Budget): Account => ({ limits, loans: {}, lent: nothingSpent, below: nothingSpent });

export const plus = (a: Spent, b: Spent): Spent => ({
  tokens: a.tokens + b.tokens,
  costUsd: a.costUsd + b.costUsd,
  toolCalls: a.toolCalls + b.toolCalls,
  runs: a.runs + b.runs,
});

const minus = (a: Spent, b: Spent): Spent => plus(a, negated(b));

const negated = ({ tokens, costUsd, toolCalls, runs }: Spent): Spent => ({
  tokens: -tokens,
  costUsd: -costUsd,
  toolCalls: -toolCalls,
  runs: -runs,
});

/** A loan as if it were used up. */
const asSpent = ({ maxTokens = 0, maxCostUsd = 0, maxToolCalls = 0, maxRuns }: Budget): Spent => ({
  tokens: maxTokens,
  costUsd: maxCostUsd,
  toolCalls: maxToolCalls,
  runs: 1 + maxRuns,
});

export function lend(account: Account, runId: RunId, budget: Budget): void {
  account.loans[runId] = budget;
  account.lent = plus(account.lent, asSpent(budget));
}

/** A loan comes back once: what was used of it is gone. */
export function giveBack(account: Account, runId: RunId, spent: Spent): void {
  const loan = Object.hasOwn(account.loans, runId) ? account.loans[runId] : undefined;
  if (loan === undefined) return;
  delete account.loans[runId];
  account.below = plus(account.below, spent);
  // Begun anew where nothing is lent, so that sums of fractions do not drift.
  account.lent = isEmpty(account.loans) ? nothingSpent : minus(account.lent, asSpent(loan));
}

function isEmpty(loans: Account['loans']): boolean {
  for (const _ in loans) return false;
  return true;
}
