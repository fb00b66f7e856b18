/** Parses the `config` of a node with the schema of its type, and exports that schema as JSON Schema. */
import type { JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { jsonSchemaOf, knownKeys, unknownName, withoutUnknown } from './closed-shapes.ts';
import type { NodeType, Problem } from './node-type.ts';

type ParsedConfig = { readonly config: unknown } | { readonly problems: readonly Problem[] };

/** The config of a definition that is being registered. The paths of the problems start at the node. */
export function parseConfig(type: NodeType, config: JsonObject): ParsedConfig {
  const parsed = type.config.safeParse(config);
  if (parsed.success) return { config: parsed.data };
  return { problems: shapeProblems(type.config, config, ['config']) };
}

/**
 * The config of a stored definition. Earlier hosts ignored settings that they did not know, and some values of another
 * type. Their definitions must still run, so these settings are left out.
 */
export function parseStoredConfig(type: NodeType, config: JsonObject): ParsedConfig {
  const parsed = type.config.safeParse(config);
  if (parsed.success) return { config: parsed.data };
  return parseConfig(type, withoutUnknown(type.config, config, type.onceIgnored));
}

/** The JSON Schema (2020-12) of a node's config in a definition. */
export const configSchema = ({ config }: NodeType): JsonObject => jsonSchemaOf(config);

/** Validates a value against a schema and returns the problems. Their paths start with `base`. */
export function shapeProblems(shape: z.ZodType, value: unknown, base: readonly PropertyKey[]): Problem[] {
  const issues = shape.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code !== 'unrecognized_keys') return [{ path, message: `${issue.message}${givenAt(value, issue.path)}` }];
    const known = knownKeys(jsonSchemaOf(shape), issue.path);
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownName(key, known) }));
  });
}

/** The value that a schema refuses, where it is short. */
function givenAt(value: unknown, path: readonly PropertyKey[]): string {
  let given = value;
  for (const key of path) given = typeof given === 'object' && given !== null ? Reflect.get(given, key) : undefined;
  const text = typeof given === 'object' ? '' : (JSON.stringify(given) ?? '');
  return text === '' || text.length > 60 ? '' : `; it is ${text}`;
}

/** Ends a list of problems. The last may be a question: did you mean … */
export const sentence = (text: string): string => (text.endsWith('?') ? text : `${text}.`);

/** `nodes[2].config.delayMs (node wait): must be …` */
export function problemText({ path, of, message }: Problem): string {
  const text = `${z.core.toDotPath([...path])}${of === undefined ? '' : ` (${of})`}: ${message}`;
  return text.length <= MAX_PROBLEM ? text : `${text.slice(0, MAX_PROBLEM)}…`.toWellFormed();
}

/** Names in it may have half a million characters, and an error has many problems. */
const MAX_PROBLEM = 2_000;
