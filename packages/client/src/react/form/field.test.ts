/** What a field of a form shows and takes, without a browser. */
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { SchemaField } from './field.tsx';
import { initialOf, readSchema } from './schema.ts';

function shown(given: Parameters<typeof readSchema>[0]): string {
  const schema = readSchema(given);
  const none = () => undefined;
  const props = { schema, name: '', isRequired: true, depth: 0, value: initialOf(schema), onChange: none };
  return renderToString(createElement(SchemaField, props)).replaceAll('&quot;', '"');
}

test('the options of a question are chosen by their labels', () => {
  const html = shown({
    oneOf: [
      { const: 'n', title: 'By night' },
      { const: 'd', title: 'By day' },
    ],
  });
  expect(html.match(/<option[^>]*>([^<]*)/g)?.map((one) => one.replace(/.*>/, ''))).toEqual([
    'Choose…',
    'By night',
    'By day',
  ]);
});

test('a field with the name of a method is empty', () => {
  const html = shown({ type: 'object', properties: { constructor: { type: 'string' }, toString: { type: 'string' } } });
  expect(html.match(/value="[^"]*"/g)).toEqual(['value=""', 'value=""']);
});

test('a time is typed in as its format demands, with an example', () => {
  const html = shown({ type: 'string', format: 'time' });
  expect(html).toContain('type="text" placeholder="14:30:00Z"');
  expect(shown({ type: 'string', format: 'date' })).toContain('type="date"');
});

test('a field for JSON shows the schema that it has to fit', () => {
  const html = shown({ oneOf: [{ type: 'object', required: ['card'] }, { type: 'array' }] });
  expect(html).toContain(
    'JSON that fits <code>{"oneOf":[{"type":"object","required":["card"]},{"type":"array"}]}</code>',
  );
  expect(html).toMatch(/aria-describedby="[^"]*-schema"/);
  expect(shown({})).not.toContain('JSON that fits');
});
