/** Variables that pass between a run and those its nodes start. */
import { type Json, type JsonObject, row } from '@cairn/protocol';
import { z } from 'zod';
import type { Draft } from '../core/state.ts';
import type { NodeContext } from '../workflow/node-type.ts';

/** Which variable gets which: names of the receiver to names of the giver. */
export const mapping = z
  .record(z.string(), z.string().min(1))
  .describe('Maps the variables of the receiving run to variables of the giving run.');
export type Mapping = Readonly<z.infer<typeof mapping>>;

/** What a new run is given; a variable that is not set here is to have no value there, not even its default. */
export function projected({ state }: NodeContext, mapping: Mapping): { inputs: JsonObject; unset: readonly string[] } {
  const { variables } = state.view;
  const inputs: Record<string, Json> = {};
  const unset: string[] = [];
  for (const [childKey, parentKey] of Object.entries(mapping)) {
    if (Object.hasOwn(variables, parentKey)) inputs[childKey] = variables[parentKey] as Json;
    else unset.push(childKey);
  }
  return { inputs, unset };
}

/**
 * The rows by which variables of a run that has completed become this one's; what it does not have stays as it is here.
 * `changed`: variables that rows before these have changed and the state does not show yet; these are added.
 */
export function harvested(
  { node, state }: NodeContext,
  mapping: Mapping,
  given: JsonObject,
  changed = new Map<string, Json>(),
): { readonly keys: readonly string[]; readonly drafts: readonly Draft[] } {
  const keys = Object.keys(mapping).filter((parentKey) => Object.hasOwn(given, mapping[parentKey] as string));
  const drafts = keys.map((name): Draft => {
    const next = given[mapping[name] as string] as Json;
    const { variables } = state.view;
    const before = changed.has(name) ? changed.get(name) : Object.hasOwn(variables, name) ? variables[name] : undefined;
    const previous = before === undefined ? {} : { previous: before };
    changed.set(name, next);
    const payload = { name, ...previous, next, nodeId: node.id };
    return row('variable.changed', payload, { nodeId: node.id });
  });
  return { keys, drafts };
}
