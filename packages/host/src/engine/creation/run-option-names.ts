/** Refuses run options that neither the host nor the workflow knows, instead of ignoring them. */
import { isJsonObject, type Json, type JsonObject, quoted, type WorkflowDefinition } from '@cairn/protocol';
import { NearNames } from '../../nearest.ts';

/** Unknown options that are named, and what the searches for what was meant may cost. */
const NAMED = 20;
const ALL_SEARCHES = 500_000;

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
  const names = new Set([...known, ...namesOf(properties)]);
  const near = new NearNames(ALL_SEARCHES);
  const unknown = Object.keys(configurable).filter((name) => !names.has(name));
  const problems = unknown.slice(0, NAMED).map((name) => {
    const close = near.nearest(name, names);
    return `configurable has no option ${quoted(name, 60)}${close === null ? '' : `; did you mean ${close}?`}`;
  });
  const rest = unknown.length - problems.length;
  return rest === 0 ? problems : [...problems, `configurable has ${rest} more unknown options`];
}

const namesOf = (value: Json = null): readonly string[] => (isJsonObject(value) ? Object.keys(value) : []);
