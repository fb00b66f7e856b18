/** The values of a run that conditions, expressions and inputs can read. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Scope } from '../values/expressions.ts';
import type { Draft, RunState } from './state.ts';

const nothing: JsonObject = {};

/** `output` holds the outputs of the current node. Variable changes in `drafts` already apply. */
export function scopeOf(state: Readonly<RunState>, output: JsonObject = nothing, drafts: readonly Draft[] = []): Scope {
  const { view } = state;
  let channels: Record<string, Json> | undefined;
  return {
    inputs: view.inputs ?? nothing,
    variables: withChanges(view.variables, drafts),
    outputs: state.outputs,
    output,
    // Computed at the first access: few expressions read channels, and a macro may read them in each turn.
    get channels() {
      if (channels !== undefined) return channels;
      channels = {};
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
