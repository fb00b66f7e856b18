/** The JSON Schema of `cairn.json` for editors, generated from the shape that validates it. */
import { z } from 'zod';
import { configShape } from './shape.ts';

export function configJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(configShape, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // `path` is an internal format that marks resolved paths; JSON Schema does not define it.
      if (jsonSchema.format === 'path') delete jsonSchema.format;
      // Links of the documentation page do not work in an editor.
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
