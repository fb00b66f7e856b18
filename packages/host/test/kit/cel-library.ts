/** The library's own evaluation, as the reference for tests. */
import { Environment } from '@marcbachmann/cel-js';
import type { Scope } from '../../src/engine/values/cel/evaluation.ts';

/** The library with the operators that mix doubles and integers. */
export function libraryEnvironment(): Environment {
  const cel = new Environment({ homogeneousAggregateLiterals: false });
  for (const name of ['inputs', 'variables', 'outputs', 'output', 'channels']) cel.registerVariable(name, 'dyn');
  for (const [left, right] of [
    ['double', 'int'],
    ['int', 'double'],
  ]) {
    cel.registerOperator(`${left} + ${right}`, (a: number, b: number) => Number(a) + Number(b));
    cel.registerOperator(`${left} - ${right}`, (a: number, b: number) => Number(a) - Number(b));
    cel.registerOperator(`${left} * ${right}`, (a: number, b: number) => Number(a) * Number(b));
    cel.registerOperator(`${left} / ${right}`, (a: number, b: number) => Number(a) / Number(b));
    cel.registerOperator(`${left} % ${right}`, (a: number, b: number) => Number(a) % Number(b));
  }
  cel.registerOperator('double % double', (a: number, b: number) => a % b);
  return cel;
}

/** The value as JSON, or undefined if the library refuses the expression, fails, or gives what JSON cannot represent. */
export function libraryValue(cel: Environment, source: string, scope: Scope): unknown {
  try {
    const parsed = cel.parse(source);
    if (!parsed.check().valid) return undefined;
    return plain(parsed({ ...scope }));
  } catch {
    return undefined;
  }
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return number(value);
  if (value instanceof Date || value.constructor.name === 'Duration') throw new TypeError('not JSON');
  if (Object.getPrototypeOf(value) !== Object.prototype) return number(value.valueOf());
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** A literal such as `7u` is an object around a bigint; other objects are not JSON. */
function number(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) throw new TypeError('not JSON');
  const result = typeof value === 'bigint' ? Number(value) : value;
  if (typeof result === 'number' && !Number.isFinite(result)) throw new TypeError('not JSON');
  return result;
}
