/** Parses the `config` of a node with the schema of its type, and exports that schema as JSON Schema. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { NodeType, Problem } from './node-type.ts';

type ParsedConfig = { readonly config: unknown } | { readonly problems: readonly Problem[] };

/** The paths of the problems start at the node: `['config', 'delayMs']`. */
export function parseConfig(type: NodeType, config: JsonObject): ParsedConfig {
  const parsed = type.config.safeParse(config);
  if (parsed.success) return { config: parsed.data };
  return { problems: shapeProblems(type.config, config, ['config']) };
}

/** The JSON Schema (2020-12) of a node's config in a definition. */
export const configSchema = ({ config }: NodeType): JsonObject => jsonSchemaOf(config);

/** Validates a value against a schema and returns the problems. Their paths start with `base`. */
export function shapeProblems(shape: z.ZodType, value: unknown, base: readonly PropertyKey[]): Problem[] {
  const issues = shape.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    const known = knownKeys(jsonSchemaOf(shape), issue.path);
    const message = known.length === 0 ? 'is not known' : `is not known; there are ${known.join(', ')}`;
    return issue.keys.map((key) => ({ path: [...path, key], message }));
  });
}

/** `nodes[2].config.delayMs (node wait): must be …` */
export const problemText = ({ path, of, message }: Problem): string =>
  `${z.core.toDotPath([...path])}${of === undefined ? '' : ` (${of})`}: ${message}`;

function jsonSchemaOf(shape: z.ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

/** The keys that the schema allows for the object at this path; empty if it lists none. */
function knownKeys(schema: JsonObject, path: readonly PropertyKey[]): readonly string[] {
  let place: Json | undefined = schema;
  for (const key of path) place = memberOf(memberOf(place, 'properties'), String(key));
  const properties = memberOf(place, 'properties');
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
