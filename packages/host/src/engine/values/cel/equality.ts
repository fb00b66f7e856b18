/** Equality of expression values: by value, numbers of any kind by their amount. Charges for all that it compares. */
import { type CostBudget, spend } from '../cost-budget.ts';
import { type CelMap, Duration, isList, isMap, MAX_VALUE_DEPTH, TypeValue, tooDeep, Uint } from './cel-values.ts';
import { prices } from './prices.ts';

export function equal(a: unknown, b: unknown, budget: CostBudget, depth = 0): boolean {
  if (typeof a === 'string') {
    if (typeof b !== 'string' || a.length !== b.length) return false;
    spend(budget, a.length * prices.copiedCharacter);
    return a === b;
  }
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return sameAmount(a, b);
  if (a === null || b === null) return false;
  if (depth > MAX_VALUE_DEPTH) throw tooDeep();
  if (isList(a)) return isList(b) && sameList(a, b, budget, depth);
  return sameObject(a, b, budget, depth);
}

function sameAmount(a: unknown, b: unknown): boolean {
  const left = amount(a);
  const right = amount(b);
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals a number of the same amount.
  return left !== undefined && right !== undefined && left == right;
}

const amount = (value: unknown): number | bigint | undefined =>
  typeof value === 'number' || typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined;

function sameList(a: readonly unknown[], b: readonly unknown[], budget: CostBudget, depth: number): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    spend(budget, prices.element);
    if (!equal(a[i], b[i], budget, depth + 1)) return false;
  }
  return true;
}

function sameObject(a: object, b: object, budget: CostBudget, depth: number): boolean {
  spend(budget, prices.object);
  if (isMap(a) && isMap(b)) return sameMap(a, b, budget, depth);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.nanos === b.nanos;
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return sameBytes(a, b, budget);
  return sameAmount(a, b);
}

function sameMap(a: CelMap, b: CelMap, budget: CostBudget, depth: number): boolean {
  const keys = Object.keys(a);
  spend(budget, keys.length * prices.key);
  const count = Object.keys(b).length;
  spend(budget, count * prices.key);
  if (keys.length !== count) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !equal(a[key], b[key], budget, depth + 1)) return false;
  }
  return true;
}

function sameBytes(a: Uint8Array, b: Uint8Array, budget: CostBudget): boolean {
  if (a.length !== b.length) return false;
  spend(budget, a.length * prices.character);
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
