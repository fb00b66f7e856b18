/** JSON Schemas of the OpenAPI document: named shapes become components, others stay inline. */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Components {
  /** The schema to use for a shape: a reference if the shape has a name. */
  schemaOf(shape: z.ZodType): JsonSchema;
  /** Adds a JSON Schema under a name. */
  add(name: string, schema: object): void;
  /** The named shapes collected so far. */
  schemas(): Readonly<Record<string, JsonSchema>>;
}

export function createComponents(): Components {
  const known = new Map<string, JsonSchema>();
  const placed = ({ $schema: _, $defs = {}, ...schema }: { $schema?: string; $defs?: object }): JsonSchema => {
    for (const [name, definition] of Object.entries($defs)) known.set(name, relocated(definition));
    return relocated(schema);
  };
  return {
    // The input form, before defaults are applied: this is what travels on the wire.
    schemaOf: (shape) => placed(z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })),
    add: (name, schema) => void known.set(name, placed(schema)),
    schemas: () => Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as const;

/** Rewrites references to point into the components. Shape names are keys there, so ids are removed. */
function relocated(schema: object): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : opened(value),
  );
  const { id: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return rest;
}

/** An object with named fields is open by default. To say so would make generators forget the types of its fields. */
function opened(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('properties' in value)) return value;
  const { additionalProperties, ...rest } = value as JsonSchema;
  const isOpen = typeof additionalProperties === 'object' && Object.keys(additionalProperties ?? {}).length === 0;
  return isOpen ? rest : value;
}
