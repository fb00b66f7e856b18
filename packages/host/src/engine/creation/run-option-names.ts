/** Refuses run options that neither the host nor the workflow knows, instead of ignoring them. */
import { isJsonObject, type Json, type JsonObject, quoted, type WorkflowDefinition } from '@cairn/protocol';
import { nearest } from '../../nearest.ts';

/** `known` are the options of the host; undefined accepts all. */
export function unknownOptions(
  { configurableSchema = {} }: WorkflowDefinition,
  configurable: JsonObject,
  known: readonly string[] | undefined,
): string[] {
  const { properties, patternProperties, additionalProperties } = configurableSchema;
  // A schema that says what other options look like declares them.
  const takesOthers = additionalProperties === true || isJsonObject(additionalProperties ?? null);
  if (known === undefined || takesOthers || namesOf(patternProperties).length > 0) return [];
  const names = [...known, ...namesOf(properties)];
  return Object.keys(configurable)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const close = nearest(name, names);
      return `configurable has no option ${quoted(name, 60)}${close === null ? '' : `; did you mean ${close}?`}`;
    });
}

const namesOf = (value: Json = null): readonly string[] => (isJsonObject(value) ? Object.keys(value) : []);
