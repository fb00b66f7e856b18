/** JSON Schemas of an OpenAPI document: named shapes become components, everything else stays where it is used. */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Components {
  /** The schema to write where the shape is used: a reference if the shape has a name. */
  schemaOf(shape: z.ZodType): JsonSchema;
  /** Adds a JSON Schema under a name. */
  add(name: string, schema: object): void;
  /** The named shapes met so far, by name. */
  schemas(): Readonly<Record<string, JsonSchema>>;
}

export function createComponents(): Components {
  const known = new Map<string, JsonSchema>();
  const placed = ({ $schema: _, $defs = {}, ...schema }: { $schema?: string; $defs?: object }): JsonSchema => {
    for (const [name, definition] of Object.entries($defs)) known.set(name, relocated(definition));
    return relocated(schema);
  };
  return {
    // As sent, before any default is filled in: that is what both ends of the wire see.
    schemaOf: (shape) => placed(z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })),
    add: (name, schema) => void known.set(name, placed(schema)),
    schemas: () => Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The same schema with its references pointing into the components; the names of shapes are their keys there, not ids. */
function relocated(schema: object): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
  const { id: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return rest;
}
