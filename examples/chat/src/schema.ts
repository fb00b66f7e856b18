/** The part of JSON Schema that the form knows. Anything else is typed in as JSON. */
import type { Context } from '@cairn/client/context';

export type Json = Parameters<Context['answer']>[1];

export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface Choice {
  readonly value: Json;
  readonly label: string;
  readonly description?: string;
}

/** A question without a schema takes a text. */
export const schemaOf = (schema: unknown): Schema =>
  typeof schema === 'object' && schema !== null ? (schema as Schema) : { type: 'string' };

/** Options are values, or values with a label. */
export const choicesOf = (options: readonly unknown[] = []): readonly Choice[] =>
  options.map((option) => {
    if (typeof option === 'object' && option !== null && 'value' in option) {
      const { value, label, description } = option as Partial<Choice> & { readonly value: Json };
      return { value, label: label ?? String(value), ...(description !== undefined && { description }) };
    }
    return { value: option as Json, label: String(option) };
  });

/** How a field is shown. */
export function widgetOf(schema: Schema, depth: number) {
  if (schema.enum !== undefined) return 'select';
  switch (schema.type) {
    case 'string':
      return (schema.maxLength ?? 0) > 200 ? 'area' : 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'check';
    case 'array':
      return schema.items?.type === 'string' && schema.items.enum === undefined ? 'lines' : 'json';
    case 'object':
      return schema.properties !== undefined && depth < 2 ? 'group' : 'json';
    default:
      return 'json';
  }
}

/** What a field holds before anybody types. Undefined: nothing. */
export function initialOf(schema: Schema, depth = 0): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  const widget = widgetOf(schema, depth);
  if (widget === 'check') return false;
  if (widget === 'lines') return [];
  if (widget !== 'group') return undefined;
  const values = Object.entries(schema.properties ?? {}).map(([name, of]) => [name, initialOf(of, depth + 1)] as const);
  return Object.fromEntries(values.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
