/** How values pass through a node: what it is given and what it puts out. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** A result as a node's outputs: an object is the outputs, anything else is the output called `output`. */
export const asOutputs = (value: Json): JsonObject => (isJsonObject(value) ? value : { output: value });

/** A node's inputs as a value of its own: what came over a plain edge is spread, named inputs win. */
export function passedOn(inputs: JsonObject): JsonObject {
  const { input, ...named } = inputs;
  return input === undefined ? inputs : { ...asOutputs(input), ...named };
}
