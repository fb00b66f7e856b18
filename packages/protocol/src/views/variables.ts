/** The variables of a run: seeded at its start, then changed by name. */
import type { Json, JsonObject } from '../json.ts';
import { put } from './dictionary.ts';

export type Variables = Record<string, Json>;

/** The inputs overlay the defaults. A copy, so that later changes do not reach the event. */
export function seedVariables(defaults: JsonObject = {}, inputs: JsonObject = {}): Variables {
  const variables: Variables = {};
  for (const [name, value] of Object.entries(defaults)) put(variables, name, value);
  for (const [name, value] of Object.entries(inputs)) put(variables, name, value);
  return variables;
}

/** The new value replaces the old one; a change without a value removes the variable. */
export function changeVariable(
  variables: Variables,
  change: { readonly name: string; readonly next?: Json | undefined },
): void {
  if (change.next === undefined) delete variables[change.name];
  else put(variables, change.name, change.next);
}
