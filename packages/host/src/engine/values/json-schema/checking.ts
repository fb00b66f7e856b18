/** One check of a value by a schema: its budget, the errors so far, and the place in the value. */
import type { Json } from '@cairn/protocol';
import { type CostBudget, costBudget, spend } from '../cost-budget.ts';

/** Whether the value fits. A check that refuses it has recorded why. */
export type Check = (value: Json, at: Checking) => boolean;

export interface Checking extends CostBudget {
  /** Keys and indexes from the root of the value to the place that is being checked. */
  readonly path: (string | number)[];
  readonly errors: SchemaError[];
  /** How many alternatives are open around the current schema, such as a branch of `anyOf`. */
  alternatives: number;
  /** What the schemas of this place evaluated; null when no `unevaluated…` keyword asks for it. */
  evaluated: Evaluated | null;
}

/** Its text is made only if it is reported: most errors are those of an alternative that did not fit. */
interface SchemaError {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The properties and items of one value that a schema evaluated. */
export interface Evaluated {
  allProperties: boolean;
  readonly properties: Set<string>;
  /** All items below this index are evaluated. */
  items: number;
  /** Items that matched `contains`. */
  readonly matched: Set<number>;
}

/** Accepts every value. Keywords compare with it to skip work. */
export const anything: Check = () => true;

/** At most this many errors of alternatives are reported. */
const MAX_ERRORS = 50;
/** Names come from data and may be long; an error is recorded in a row. */
const MAX_ERROR_LENGTH = 1_000;

export const startChecking = (limit: number): Checking => ({
  ...costBudget(limit),
  path: [],
  errors: [],
  alternatives: 0,
  evaluated: null,
});

/** Refuses the value. Outside alternatives the first error is the only one. */
export function refuse(at: Checking, message: string): false {
  if (at.alternatives === 0) at.errors.length = 0;
  return refuseAlso(at, message);
}

/** Refuses the value and keeps the errors of its alternatives. */
export function refuseAlso(at: Checking, message: string): false {
  // The last error says why the whole value does not fit.
  if (at.errors.length === MAX_ERRORS) at.errors.pop();
  at.errors.push({ path: at.path.slice(), message });
  return false;
}

/** The texts of the errors: a place in the value and what is wrong with it. */
export const errorTexts = ({ errors }: Checking): readonly string[] =>
  errors.map(({ path, message }) => {
    const text = `${pointer(path) || 'the value'} ${message}`;
    return text.length <= MAX_ERROR_LENGTH ? text : `${text.slice(0, MAX_ERROR_LENGTH)}…`;
  });

/** Checks a member of the current value. */
export function checkMember(check: Check, member: Json, key: string | number, at: Checking): boolean {
  const { evaluated } = at;
  at.evaluated = null;
  at.path.push(key);
  const fits = check(member, at);
  at.path.pop();
  at.evaluated = evaluated;
  return fits;
}

/** Tries an alternative for the current value. What it evaluated counts only if it fits. */
export function tryAlternative(check: Check, value: Json, at: Checking): boolean {
  spend(at, 4);
  const { evaluated } = at;
  if (evaluated !== null) at.evaluated = nothingEvaluated();
  at.alternatives += 1;
  const fits = check(value, at);
  at.alternatives -= 1;
  if (evaluated !== null && fits && at.evaluated !== null) addEvaluated(evaluated, at.evaluated);
  at.evaluated = evaluated;
  return fits;
}

export const nothingEvaluated = (): Evaluated => ({
  allProperties: false,
  properties: new Set(),
  items: 0,
  matched: new Set(),
});

export function addEvaluated(to: Evaluated, from: Evaluated): void {
  to.allProperties ||= from.allProperties;
  to.items = Math.max(to.items, from.items);
  for (const name of from.properties) to.properties.add(name);
  for (const index of from.matched) to.matched.add(index);
}

/** JSON Pointer (RFC 6901). */
const pointer = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
