/** Variables that pass between a run and its child runs. */
import type { Json, JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { Draft } from '../core/state.ts';
import { variableChanged } from '../core/variable-changed.ts';
import { refusePlain } from '../sensitive/refuse-plain.ts';
import type { NodeContext } from '../workflow/node-type.ts';

/** Maps the receiver's variable names to the giver's variable names. */
export const mapping = z
  .record(z.string(), z.string().min(1))
  .describe('Maps the variables of the receiving run to variables of the giving run.');
export type Mapping = Readonly<z.infer<typeof mapping>>;

/** The inputs of a child run. A variable that is unset in the parent stays unset in the child, without its default. */
export function projected({ state }: NodeContext, mapping: Mapping): { inputs: JsonObject; unset: readonly string[] } {
  const { variables } = state.view;
  const inputs: Record<string, Json> = {};
  const unset: string[] = [];
  for (const [childKey, parentKey] of Object.entries(mapping)) {
    const value = Object.hasOwn(variables, parentKey) ? variables[parentKey] : undefined;
    if (value === undefined) unset.push(childKey);
    else inputs[childKey] = value;
  }
  return { inputs, unset };
}

/**
 * The rows that copy variables of a completed child to its parent. Variables that the child lacks do not change.
 * `changed` holds variables changed by earlier rows that the state does not show yet. This function adds its own.
 */
export function harvested(
  context: NodeContext,
  mapping: Mapping,
  given: JsonObject,
  changed = new Map<string, Json>(),
): { readonly keys: readonly string[]; readonly drafts: readonly Draft[] } {
  const { node, state } = context;
  const keys: string[] = [];
  const drafts: Draft[] = [];
  for (const [name, childKey] of Object.entries(mapping)) {
    const next = Object.hasOwn(given, childKey) ? given[childKey] : undefined;
    if (next === undefined) continue;
    refusePlain(context, name, next);
    const { variables } = state.view;
    const known = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const previous = changed.has(name) ? changed.get(name) : known;
    changed.set(name, next);
    keys.push(name);
    drafts.push(variableChanged(node.id, { name, previous, next }));
  }
  return { keys, drafts };
}
