/** Makes sample values from a JSON Schema, so that two definitions of one shape can be held against each other; not shipped. */

/** A JSON Schema, as far as sampling reads it. */
export interface SampledSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SampledSchema>>;
  readonly required?: readonly string[];
  readonly items?: SampledSchema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly anyOf?: readonly SampledSchema[];
  readonly oneOf?: readonly SampledSchema[];
  readonly allOf?: readonly SampledSchema[];
}

export interface Sampling {
  /** Required properties alone, or every declared one. */
  readonly size: 'least' | 'most';
  readonly resolve: (ref: string) => SampledSchema;
}

/** Texts for the patterns that occur; a pattern without one is a mistake in the test. */
const textsByPattern: readonly string[] = [
  'USD',
  '1.0',
  'replace',
  'conformance-noop',
  'core.noop',
  'acme.thing.done',
  `sha256:${'0'.repeat(64)}`,
  'prompt:greeting',
  'x-host-acme-odd',
  'tool:search',
];

export function sample(schema: SampledSchema, sampling: Sampling, depth = 0): unknown {
  if (schema.$ref !== undefined) return sample(sampling.resolve(schema.$ref), sampling, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choices = schema.oneOf ?? schema.anyOf ?? (schema.properties === undefined ? schema.allOf : undefined);
  if (choices !== undefined) return sample(choices[0] as SampledSchema, sampling, depth);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return textFor(schema);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, schema.exclusiveMinimum ?? 0, 0);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return listFor(schema, sampling, depth);
    case 'object':
      return objectFor(schema, sampling, depth);
    default:
      return schema.properties === undefined ? 'anything' : objectFor(schema, sampling, depth);
  }
}

function listFor(schema: SampledSchema, sampling: Sampling, depth: number): unknown[] {
  const length = Math.max(schema.minItems ?? 0, sampling.size === 'most' && depth < 6 ? 1 : 0);
  return Array.from({ length }, () => sample(schema.items ?? {}, sampling, depth + 1));
}

function objectFor(schema: SampledSchema, sampling: Sampling, depth: number): Record<string, unknown> {
  const isWhole = sampling.size === 'most' && depth < 6;
  const every = Object.keys(schema.properties ?? {});
  // An AgentRef has a version or a channel, never both; its schema says so in a way that samples do not follow.
  const names = isWhole
    ? every.filter((name) => name !== 'channel' || !every.includes('agentId'))
    : (schema.required ?? []);
  return Object.fromEntries(names.map((name) => [name, sample(schema.properties?.[name] ?? {}, sampling, depth + 1)]));
}

function textFor({ format, pattern, minLength = 0 }: SampledSchema): string {
  if (format === 'date-time') return '2026-01-02T03:04:05.006Z';
  if (format === 'uri') return 'https://example.org/callback';
  if (pattern === undefined) return 'text'.padEnd(minLength, '.');
  const text = textsByPattern.find((candidate) => new RegExp(pattern).test(candidate));
  if (text === undefined) throw new Error(`No sample text for the pattern ${pattern}`);
  return text;
}
