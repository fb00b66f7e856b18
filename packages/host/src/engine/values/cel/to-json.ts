/** Converts the result of an expression to JSON. Charges for its whole size, because it is copied and serialised. */
import type { Json } from '@cairn/protocol';
import { type CostBudget, spend } from '../cost-budget.ts';
import { Failure, isList, isMap, MAX_VALUE_DEPTH, tooDeep, Uint } from './cel-values.ts';
import { prices } from './prices.ts';

/** Throws a Failure for values that JSON cannot represent. */
export function toJson(value: unknown, budget: CostBudget, depth = 0): Json {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      spend(budget, value.length * prices.resultCharacter);
      return value;
    case 'number':
    case 'bigint':
      return plainNumber(value);
    default:
      break;
  }
  if (value === null) return null;
  if (depth > MAX_VALUE_DEPTH) throw tooDeep();
  if (isList(value)) {
    spend(budget, value.length * prices.resultElement);
    return value.map((item) => toJson(item, budget, depth + 1));
  }
  if (value instanceof Uint) return plainNumber(value.value);
  if (!isMap(value)) throw new Failure('its value has no form in JSON');
  const object: Record<string, Json> = {};
  const keys = Object.keys(value);
  spend(budget, keys.length * prices.newKey);
  for (const key of keys) {
    spend(budget, key.length * prices.resultCharacter);
    const item = toJson(value[key], budget, depth + 1);
    if (key === '__proto__')
      Object.defineProperty(object, key, { value: item, enumerable: true, configurable: true, writable: true });
    else object[key] = item;
  }
  return object;
}

function plainNumber(value: number | bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Failure(`its value is ${number}, which is not JSON`);
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) {
    throw new Failure(`its value ${value} is too large for a JSON number`);
  }
  return number;
}
