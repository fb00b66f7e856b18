/** Functions that limit the cost of expressions, and the conversion of CEL values to JSON. */
import type { Json } from '@cairn/protocol';
import { compilePattern } from './patterns.ts';

/**
 * The remaining steps of one evaluation. Once it is overspent, macros and `matches` compute nothing more, and the
 * evaluation is refused at its end. `exists` and `||` would swallow an earlier error and continue.
 */
export interface Budget {
  left: number;
}

export const MAX_EVALUATION_STEPS = 50_000;
const MAX_TEXT_LENGTH = 262_144;
const MAX_LIST_LENGTH = 100_000;
const MAX_RESULT_DEPTH = 64;

type Handler = (...args: never[]) => unknown;

/** Registered with CEL under names that expressions may not use. */
export const cairnFunctions: readonly (readonly [signature: string, handler: Handler])[] = [
  ['cairn_add(dyn, dyn): dyn', add],
  ['cairn_turns(dyn, dyn): dyn', turns],
  ['cairn_matches(dyn, string, string): bool', matches],
];

export function refuseOverspent(budget: Budget): void {
  if (budget.left < 0) throw new RangeError(`it takes more than ${MAX_EVALUATION_STEPS} steps`);
}

function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/** The collection that a macro iterates over; empty when its size exceeds the budget. */
function turns(budget: Budget, over: unknown): unknown {
  const steps = Array.isArray(over) ? over.length : typeof over === 'object' && over !== null ? sizeOf(over) : 0;
  return spend(budget, steps) ? over : [];
}

const sizeOf = (over: object): number => (over instanceof Map ? over.size : Object.keys(over).length);

/** RE2 matches about 10 characters in the time of one step, and compiles a pattern in about 20 steps. */
function matches(budget: Budget, text: string, pattern: string): boolean {
  return spend(budget, 20 + Math.ceil(text.length / 10)) && compilePattern(pattern).test(text);
}

/** `+` for numbers (integers and doubles may mix), strings and lists. */
function add(a: unknown, b: unknown): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a + b;
  if (isNumber(a) && isNumber(b)) return Number(a) + Number(b);
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length + b.length > MAX_TEXT_LENGTH) throw tooLarge('text', MAX_TEXT_LENGTH);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length + b.length > MAX_LIST_LENGTH) throw tooLarge('list', MAX_LIST_LENGTH);
    return [...a, ...b];
  }
  throw new TypeError(`+ does not join ${kindOf(a)} and ${kindOf(b)}`);
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);
const tooLarge = (what: string, limit: number) => new RangeError(`it builds a ${what} longer than ${limit}`);

/** Converts a CEL value to JSON. Throws for values that JSON cannot represent. */
export function toJson(value: unknown, depth = 0): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT_LENGTH) throw tooLarge('text', MAX_TEXT_LENGTH);
    return value;
  }
  if (isNumber(value)) return plainNumber(value);
  if (depth > MAX_RESULT_DEPTH) throw new RangeError(`its value is nested deeper than ${MAX_RESULT_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  if (value instanceof Map) return fields([...value], depth);
  const plain = Object.getPrototypeOf(value);
  if (plain === Object.prototype || plain === null) return fields(Object.entries(Object(value)), depth);
  const inner: unknown = Object(value).valueOf();
  if (typeof inner === 'bigint') return plainNumber(inner);
  throw new TypeError('its value has no form in JSON');
}

function fields(entries: readonly (readonly [unknown, unknown])[], depth: number): Json {
  const object: Record<string, Json> = {};
  for (const [key, item] of entries) {
    Object.defineProperty(object, String(key), {
      value: toJson(item, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

function plainNumber(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new RangeError(`its value is ${number}, which is not JSON`);
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) {
    throw new RangeError(`its value ${value} is too large for a JSON number`);
  }
  return number;
}
