/** Conversions between the inputs and outputs of a node. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** Converts a result to a node's outputs. An object is used as it is; any other value becomes the output `output`. */
export const asOutputs = (value: Json): JsonObject => (isJsonObject(value) ? value : { output: value });

/** Merges a node's inputs into one object: spreads the input `input`, and named inputs take precedence. */
export function passedOn(inputs: JsonObject): JsonObject {
  const { input, ...named } = inputs;
  return input === undefined ? inputs : { ...asOutputs(input), ...named };
}
