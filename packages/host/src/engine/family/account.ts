/** The budget account of a run: its limits, its loans to child runs, and the usage of the runs below it. */
import type { PayloadOf, RunId } from '@cairn/protocol';

/** The limits of a run. An omitted limit means unlimited. */
export type Budget = PayloadOf<'cairn.budget.granted'>['budget'];

/** The amounts used. */
export type Spent = PayloadOf<'cairn.budget.returned'>['spent'];

/** The part of a run's state that tracks its budget. */
export interface Account {
  readonly limits: Budget;
  /** The budget of each child run that has not ended. */
  readonly loans: Record<RunId, Budget>;
  /** The sum of the loans. Each child counts as one run itself. */
  lent: Spent;
  /** The usage of child runs that have ended, including all runs below them. */
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

/** Converts a loan to usage, as if the child used all of it. */
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

/** Closes a loan and books its usage. A second return of the same loan has no effect. */
export function giveBack(account: Account, runId: RunId, spent: Spent): void {
  const loan = Object.hasOwn(account.loans, runId) ? account.loans[runId] : undefined;
  if (loan === undefined) return;
  delete account.loans[runId];
  account.below = plus(account.below, spent);
  // Reset when no loan is open, so that sums of fractions do not drift.
  account.lent = isEmpty(account.loans) ? nothingSpent : minus(account.lent, asSpent(loan));
}

function isEmpty(loans: Account['loans']): boolean {
  for (const _ in loans) return false;
  return true;
}
