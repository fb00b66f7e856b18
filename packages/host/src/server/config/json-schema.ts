/** The JSON Schema of `cairn.json`, for editors: made from the shape that the host checks with. */
import { z } from 'zod';
import { configShape } from './shape.ts';

export function configJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(configShape, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // A mark of ours for the paths that are resolved; JSON Schema has no such format.
      if (jsonSchema.format === 'path') delete jsonSchema.format;
      // Links of the page lead nowhere from an editor.
      const { description } = jsonSchema;
      if (description !== undefined) jsonSchema.description = description.replace(/\[(\w+)\]\([^)]*\)/g, '`$1`');
    },
  });
  return {
    $schema,
    title: 'Configuration of a Cairn host',
    description: 'The schema of cairn.json. The host makes further checks when it starts.',
    ...schema,
  };
}
