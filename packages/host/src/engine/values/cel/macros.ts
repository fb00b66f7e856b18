/** Macros of expressions: `has`, and those that iterate over a list or the keys of a map. */
import { type CostBudget, spend } from '../cost-budget.ts';
import { Failure, isList, isMap, kindOf } from './cel-values.ts';
import { attempt, bool, type Frame, type Part, type Step } from './evaluation.ts';
import { hasField } from './operators.ts';
import { prices } from './prices.ts';

/** A macro that iterates: `over.name(variable, ...)`. The variable has a slot in the frame's locals. */
interface Iteration {
  readonly over: Step;
  readonly slot: number;
}

/** The names of the macros that iterate, with the number of their arguments. */
export const macros: ReadonlySet<string> = new Set(['all/2', 'exists/2', 'exists_one/2', 'map/2', 'map/3', 'filter/2']);

export function macro(name: string, iteration: Iteration, parts: readonly Step[]): Part {
  const [first, second] = parts;
  if (first === undefined) throw new Error(`${name} needs an expression`);
  switch (name) {
    case 'all':
      return { kind: 'bool', step: quantifier(iteration, first, false) };
    case 'exists':
      return { kind: 'bool', step: quantifier(iteration, first, true) };
    case 'exists_one':
      return { kind: 'bool', step: one(iteration, first) };
    case 'filter':
      return { kind: 'list', step: list(iteration, first, (frame) => frame.locals[iteration.slot]) };
    default:
      return {
        kind: 'list',
        step: second === undefined ? list(iteration, undefined, first) : list(iteration, first, second),
      };
  }
}

/** `has(of.name)`: whether the field is there. */
export const has = (of: Step, name: string): Part => ({
  kind: 'bool',
  step(frame) {
    spend(frame.budget, prices.step);
    const map = of(frame);
    return isMap(map) && hasField(map, name, frame.budget);
  },
});

function itemsOf(value: unknown, budget: CostBudget): readonly unknown[] {
  if (isList(value)) return value;
  if (!isMap(value)) throw new Failure(`a macro needs a list or a map, got ${kindOf(value)}`);
  const keys = Object.keys(value);
  spend(budget, keys.length * prices.key);
  return keys;
}

/** Makes the item the macro's variable. */
function turn(frame: Frame, slot: number, item: unknown): void {
  spend(frame.budget, prices.turn);
  frame.locals[slot] = item;
}

/** A failure counts only if no item decides the result. */
const quantifier =
  ({ over, slot }: Iteration, predicate: Step, decisive: boolean): Step =>
  (frame) => {
    spend(frame.budget, prices.step);
    let failure: unknown;
    for (const item of itemsOf(over(frame), frame.budget)) {
      turn(frame, slot, item);
      const result = attempt(predicate, frame);
      if (result === decisive) return decisive;
      if (result instanceof Failure) failure ??= result;
      else if (typeof result !== 'boolean') failure ??= new Failure(`a predicate must be bool, got ${kindOf(result)}`);
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  };

const one =
  ({ over, slot }: Iteration, predicate: Step): Step =>
  (frame) => {
    spend(frame.budget, prices.step);
    let count = 0;
    for (const item of itemsOf(over(frame), frame.budget)) {
      turn(frame, slot, item);
      if (bool(predicate(frame), 'a predicate')) count += 1;
    }
    return count === 1;
  };

const list =
  ({ over, slot }: Iteration, predicate: Step | undefined, transform: Step): Step =>
  (frame) => {
    spend(frame.budget, prices.step + prices.object);
    const result: unknown[] = [];
    for (const item of itemsOf(over(frame), frame.budget)) {
      turn(frame, slot, item);
      if (predicate !== undefined && !bool(predicate(frame), 'a predicate')) continue;
      spend(frame.budget, prices.element);
      result.push(transform(frame));
    }
    return result;
  };
