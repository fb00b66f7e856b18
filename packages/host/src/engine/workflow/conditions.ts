/** Edge conditions: compiled once, tested against the outputs of the edge's source. */
import { type edgeCondition, isJsonObject, type Json } from '@cairn/protocol';
import type { z } from 'zod';
import { equal } from '../values/cel/equality.ts';
import { prices } from '../values/cel/prices.ts';
import { searchCost } from '../values/cel/text-functions.ts';
import { type CostBudget, costBudget, spend } from '../values/cost-budget.ts';
import { compileExpression, DEFAULT_EXPRESSION_COST, evaluationError, type Scope } from '../values/expressions.ts';
import { compilePattern } from '../values/patterns.ts';

/**
 * Charges the budget, and throws `expression_failed` once that is spent. Otherwise only an expression can fail: a missing
 * operand is not equal, not contained and not matched.
 */
export type Condition = (scope: Scope, budget?: CostBudget) => boolean;

type Test = (value: Json | undefined, budget: CostBudget) => boolean;

/** Throws an Error whose message explains the problem. */
export function compileCondition(condition: z.infer<typeof edgeCondition>): Condition {
  const type = condition.type ?? (condition.expression === undefined ? 'equals' : 'expression');
  if (type === 'expression') {
    if (condition.expression === undefined) throw new Error('a condition of type expression needs an expression');
    const expression = compileExpression(condition.expression);
    return (scope, budget) => expression.evaluate(scope, budget) === true;
  }
  if (condition.left === undefined) throw new Error(`a condition of type ${type} needs left`);
  if (condition.right === undefined) throw new Error(`a condition of type ${type} needs right`);
  const { left: path } = condition;
  const left = compilePath(path);
  const test = testOf(type, condition.right);
  return (scope, budget = costBudget(DEFAULT_EXPRESSION_COST)) => {
    try {
      spend(budget, prices.object + path.length * prices.character);
      return test(left(scope), budget);
    } catch (error) {
      throw evaluationError(`${type} ${path}`, error, budget);
    }
  };
}

function testOf(type: 'equals' | 'notEquals' | 'contains' | 'regex', right: Json): Test {
  switch (type) {
    case 'equals':
      return (value, budget) => equal(value, right, budget);
    case 'notEquals':
      return (value, budget) => !equal(value, right, budget);
    case 'contains':
      return (value, budget) => contains(value, right, budget);
    case 'regex': {
      if (typeof right !== 'string') throw new Error('a condition of type regex needs a pattern as right');
      const pattern = compilePattern(right);
      return (value, budget) =>
        (typeof value === 'string' || typeof value === 'number') && pattern.test(String(value), budget);
    }
  }
}

function contains(value: Json | undefined, part: Json, budget: CostBudget): boolean {
  if (typeof value === 'string') {
    if (typeof part !== 'string') return false;
    spend(budget, searchCost(value, part));
    return value.includes(part);
  }
  if (Array.isArray(value)) {
    return value.some((item) => {
      spend(budget, prices.element);
      return equal(item, part, budget);
    });
  }
  return isJsonObject(value) && typeof part === 'string' && Object.hasOwn(value, part);
}

type Path = (scope: Scope) => Json | undefined;
const roots = new Set(['output', 'outputs', 'variables', 'inputs']);

/** `variables.x`, `inputs.x`, or the source's outputs as `output.x`, `outputs.x` or `x`; `[0]` or `.0` for lists. */
function compilePath(path: string): Path {
  const keys = path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '');
  const [first] = keys;
  if (first === undefined) throw new Error(`the path ${JSON.stringify(path)} names nothing`);
  const root = roots.has(first) ? first : 'output';
  if (roots.has(first)) keys.shift();
  return (scope) => {
    let value: Json | undefined = root === 'variables' || root === 'inputs' ? scope[root] : scope.output;
    for (const key of keys) value = step(value, key);
    return value;
  };
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
