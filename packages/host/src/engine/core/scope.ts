/** The values of a run that conditions, expressions and inputs can read. */
import type { Json, JsonObject } from '@cairn/protocol';
import { mayRead } from '../values/channel-access.ts';
import type { Scope } from '../values/expressions.ts';
import type { NodeContext } from '../workflow/node-type.ts';
import type { Draft } from './state.ts';

const nothing: JsonObject = {};

/**
 * `output` holds the outputs of the current node. Variable changes in `drafts` already apply. A declared variable without
 * a value is null. A channel that the node may not read is not there.
 */
export function scopeOf(
  { state, compiled }: Pick<NodeContext, 'state' | 'compiled'>,
  output: JsonObject = nothing,
  drafts: readonly Draft[] = [],
): Scope {
  const { view } = state;
  let channels: Record<string, Json> | undefined;
  return {
    inputs: view.inputs ?? nothing,
    variables: withChanges(withNulls(view.variables, compiled.undefaulted), drafts),
    outputs: state.outputs,
    output,
    // Computed at the first access: few expressions read channels, and a macro may read them in each turn.
    get channels() {
      if (channels !== undefined) return channels;
      channels = {};
      const { channelReaders, node } = compiled;
      for (const name of Object.keys(view.channels)) {
        if (mayRead(channelReaders, name, node)) channels[name] = view.channels[name]?.value ?? null;
      }
      return channels;
    },
  };
}

function withNulls(variables: JsonObject, names: readonly string[]): JsonObject {
  if (names.every((name) => Object.hasOwn(variables, name))) return variables;
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...variables };
}

function withChanges(variables: JsonObject, drafts: readonly Draft[]): JsonObject {
  const changes = drafts.filter((draft) => draft.type === 'variable.changed');
  if (changes.length === 0) return variables;
  const changed: Record<string, Json> = { ...variables };
  for (const { payload } of changes) changed[payload.name as string] = payload.next ?? null;
  return changed;
}
