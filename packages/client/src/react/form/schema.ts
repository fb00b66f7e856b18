/** The part of JSON Schema that the form knows. Anything else is typed in as JSON, and the host checks it. */
import { isJsonObject, type Json, type JsonObject, withoutDecline } from '@cairn/protocol';

export interface FormSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  /** What the values of `enum` are called, where the schema says it; in the same order. */
  readonly labels?: readonly string[];
  readonly items?: FormSchema;
  readonly properties: Readonly<Record<string, FormSchema>> | null;
  readonly required: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The schema itself, where the form does not know it and somebody has to read it. */
  readonly unknown?: Json;
}

/** Deeper groups are typed in as JSON. */
const MAX_DEPTH = 3;

/** Reads a schema that somebody else wrote: what has another form than it should is as if it were not there. */
export function readSchema(given: Json | undefined, depth = 0): FormSchema {
  if (!isJsonObject(given) || depth > MAX_DEPTH) return { properties: null, required: [] };
  const { type, title, description, format, items, properties, required } = depth === 0 ? withoutDecline(given) : given;
  const read: FormSchema = {
    ...(typeof type === 'string' && { type }),
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof format === 'string' && { format }),
    ...(given.default !== undefined && { default: given.default }),
    ...choices(given),
    ...(isJsonObject(items) && { items: readSchema(items, depth + 1) }),
    ...bounds(given),
    properties: isJsonObject(properties)
      ? Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, readSchema(field, depth + 1)]))
      : null,
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
  const isKnown = widgetOf(read, depth) !== 'json' || Object.keys(given).every((key) => annotations.has(key));
  return isKnown ? read : { ...read, unknown: given };
}

/** Keywords that limit nothing. */
const annotations: ReadonlySet<string> = new Set(['$schema', '$id', 'title', 'description', 'default']);

/** The values to choose from: those of `enum`, or constants with titles, as `options` of a question become. */
function choices({ enum: values, oneOf, anyOf, ...given }: JsonObject): Pick<FormSchema, 'enum' | 'labels'> {
  if (Array.isArray(values) && values.length > 0) return { enum: values };
  if (given.const !== undefined) return { enum: [given.const] };
  const named = [oneOf, anyOf].find(Array.isArray) ?? [];
  if (named.length === 0 || !named.every(isNamedValue)) return {};
  return { enum: named.map((one) => one.const), labels: named.map(labelOf) };
}

type NamedValue = JsonObject & { readonly const: Json };

const isNamedValue = (one: Json): one is NamedValue => isJsonObject(one) && one.const !== undefined;

function labelOf({ title, description, const: value }: NamedValue): string {
  const name = typeof title === 'string' ? title : wordOf(value);
  return typeof description === 'string' ? `${name} – ${description}` : name;
}

const wordOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What the value number `at` of a choice is called. */
export const choiceLabel = ({ enum: values = [], labels }: FormSchema, at: number): string =>
  labels?.[at] ?? wordOf(values[at] ?? null);

function bounds({ minimum, maximum, minLength, maxLength }: Readonly<Record<string, Json>>): Partial<FormSchema> {
  return {
    ...(typeof minimum === 'number' && { minimum }),
    ...(typeof maximum === 'number' && { maximum }),
    ...(typeof minLength === 'number' && { minLength }),
    ...(typeof maxLength === 'number' && { maxLength }),
  };
}

export type Widget = 'choice' | 'text' | 'area' | 'number' | 'check' | 'lines' | 'group' | 'json';

export function widgetOf({ enum: values, type, maxLength, items, properties }: FormSchema, depth: number): Widget {
  if (values !== undefined) return 'choice';
  switch (type) {
    case 'string':
      return (maxLength ?? 0) > 200 ? 'area' : 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'check';
    case 'array':
      return items?.type === 'string' && items.enum === undefined ? 'lines' : 'json';
    case 'object':
      return properties !== null && depth < MAX_DEPTH ? 'group' : 'json';
    default:
      return 'json';
  }
}

/** What a field holds before anybody types. Undefined: nothing. */
export function initialOf(schema: FormSchema, depth = 0): Json | undefined {
  if (schema.default !== undefined) return schema.default;
  const widget = widgetOf(schema, depth);
  if (widget === 'check') return false;
  if (widget === 'lines') return [];
  if (widget !== 'group') return undefined;
  const values = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = initialOf(field, depth + 1);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

/** `firstName` and `first_name` are read as "First name". */
export function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
