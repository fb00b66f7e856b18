/** Edge conditions: compiled once, tested against the outputs of the edge's source. */
import { type edgeCondition, type Json, type JsonObject, jsonEquals } from '@cairn/protocol';
import type { z } from 'zod';
import { compileExpression, type Scope } from '../values/expressions.ts';
import { compilePattern } from '../values/patterns.ts';

/** Throws `expression_failed` only for an expression. A missing operand is not equal, not contained and not matched. */
export type Condition = (scope: Scope) => boolean;

/** Throws an Error whose message explains the problem. */
export function compileCondition(condition: z.infer<typeof edgeCondition>): Condition {
  const type = condition.type ?? (condition.expression === undefined ? 'equals' : 'expression');
  if (type === 'expression') {
    if (condition.expression === undefined) throw new Error('a condition of type expression needs an expression');
    const expression = compileExpression(condition.expression);
    return (scope) => expression.evaluate(scope) === true;
  }
  if (condition.left === undefined) throw new Error(`a condition of type ${type} needs left`);
  if (condition.right === undefined) throw new Error(`a condition of type ${type} needs right`);
  const left = compilePath(condition.left);
  const right = condition.right;
  switch (type) {
    case 'equals':
      return (scope) => jsonEquals(left(scope), right);
    case 'notEquals':
      return (scope) => !jsonEquals(left(scope), right);
    case 'contains':
      return (scope) => contains(left(scope), right);
    case 'regex': {
      if (typeof right !== 'string') throw new Error('a condition of type regex needs a pattern as right');
      const pattern = compilePattern(right);
      return (scope) => {
        const value = left(scope);
        return (typeof value === 'string' || typeof value === 'number') && pattern.test(String(value));
      };
    }
  }
}

function contains(value: Json | undefined, part: Json): boolean {
  if (typeof value === 'string') return typeof part === 'string' && value.includes(part);
  if (Array.isArray(value)) return value.some((item) => jsonEquals(item, part));
  return isObject(value) && typeof part === 'string' && Object.hasOwn(value, part);
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
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
