/** JSON Schemas of an OpenAPI document: named shapes become components, everything else stays where it is used. */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Components {
  /** The schema to write where the shape is used: a reference if the shape has a name. */
  schemaOf(shape: z.ZodType): JsonSchema;
  /** The named shapes met so far, by name. */
  schemas(): Readonly<Record<string, JsonSchema>>;
}

export function createComponents(): Components {
  const known = new Map<string, JsonSchema>();
  return {
    schemaOf(shape) {
      // As sent, before any default is filled in: that is what both ends of the wire see.
      const { $schema: _, $defs, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
      for (const [name, definition] of Object.entries($defs ?? {})) known.set(name, relocated(definition));
      return relocated(schema);
    },
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
