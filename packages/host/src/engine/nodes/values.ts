/** Conversions between the inputs and outputs of a node. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** Converts a result to a node's outputs. An object is used as it is; any other value becomes the output `output`. */
export const asOutputs = (value: Json): JsonObject => (isJsonObject(value) ? value : { output: value });

/** Merges a node's inputs into one object: spreads the input `input`, and named inputs take precedence. */
export function passedOn(inputs: JsonObject): JsonObject {
  const { input } = inputs;
  if (input === undefined) return inputs;
  // Most nodes get nothing else.
  if (Object.keys(inputs).length === 1) return asOutputs(input);
  const { input: _, ...named } = inputs;
  return { ...asOutputs(input), ...named };
}
