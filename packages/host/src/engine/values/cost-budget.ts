/** A budget of cost units. Work that data can ask for is charged before it is done, and stops once the budget is spent. */

/**
 * One unit is about 20 ns of the event loop: the prices in this folder are measured (`npm run bench -- expressions`).
 * The budget stays overspent, so nothing that swallows an error can go on.
 */
export interface CostBudget {
  readonly limit: number;
  left: number;
}

export class CostExceeded extends RangeError {
  constructor(limit: number) {
    super(`it costs more than the limit of ${limit} units`);
  }
}

export const costBudget = (limit: number): CostBudget => ({ limit, left: limit });

/** Throws `CostExceeded` if the budget does not cover the units. */
export function spend(budget: CostBudget, units: number): void {
  budget.left -= units;
  if (budget.left < 0) throw new CostExceeded(budget.limit);
}
