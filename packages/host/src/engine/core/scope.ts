/** What conditions, expressions and inputs can see of a run. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Scope } from '../values/expressions.ts';
import type { Draft, RunState } from './state.ts';

const nothing: JsonObject = {};

/** With the outputs of the node in question; `drafts` are rows about to be written whose variables already count. */
export function scopeOf(state: Readonly<RunState>, output: JsonObject = nothing, drafts: readonly Draft[] = []): Scope {
  const { view } = state;
  return {
    inputs: view.inputs ?? nothing,
    variables: withChanges(view.variables, drafts),
    outputs: state.outputs,
    output,
    // Made when asked for: few expressions look at channels.
    get channels() {
      const channels: Record<string, Json> = {};
      for (const name of Object.keys(view.channels)) channels[name] = view.channels[name]?.value ?? null;
      return channels;
    },
  };
}

function withChanges(variables: JsonObject, drafts: readonly Draft[]): JsonObject {
  const changes = drafts.filter((draft) => draft.type === 'variable.changed');
  if (changes.length === 0) return variables;
  const changed: Record<string, Json> = { ...variables };
  for (const { payload } of changes) changed[payload.name as string] = payload.next ?? null;
  return changed;
}
