/** Schemas of prompt templates and of references to them. */
import { type JsonObject, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { anyJsonObject } from '../../engine/nodes/config-fields.ts';
import type { PromptTemplate } from '../../engine/ports.ts';

export const promptKinds = ['system', 'user', 'few-shot', 'schema-hint'] as const;
export type PromptKind = (typeof promptKinds)[number];

const templateId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/);
const version = z.string().regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/);

/** Where the value of a slot comes from. */
export const variableSources = ['input', 'variable', 'context'] as const;

/**
 * A slot of a template. Secrets and paths into values are not supported, since the run's log holds the content of
 * prompts.
 */
const promptVariable = z.strictObject({
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/),
  type: z.enum(['string', 'number', 'boolean', 'array', 'object']),
  required: z.boolean(),
  /** Default `input`. */
  source: z.enum(variableSources).optional(),
  defaultValue: z.json().optional(),
  description: z.string().max(500).optional(),
});

const MAX_TEMPLATE_UNITS = 65_536;

/** Only the fields that composition needs, plus a name and a description for people and editors. */
const promptTemplate = z.strictObject({
  templateId,
  version,
  kind: z.enum(promptKinds),
  text: z.string().max(MAX_TEMPLATE_UNITS),
  name: z.string().max(200).optional(),
  description: z.string().max(2000).optional(),
  variables: z.array(promptVariable).optional(),
});

export type { PromptTemplate };

/** Throws `config_invalid` with the path of the first problem. */
export function parseTemplate(value: unknown): PromptTemplate {
  const parsed = promptTemplate.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = typeof value === 'object' && value !== null && 'templateId' in value ? value.templateId : undefined;
  throw new TerminalError('config_invalid', {
    message: `The prompt template ${quoted(String(name))} is wrong at ${issue?.path.join('.') || 'its root'}: ${issue?.message}.`,
    hint: 'A template has a templateId, a version, a kind and a text; see docs/reference/prompts.md.',
  });
}

/** A reference to a template by name; without a version, to the newest. */
export interface PromptRef {
  readonly templateId: string;
  readonly version?: string;
  /** Values that take precedence over every other source of a slot. */
  readonly variableOverrides?: JsonObject;
}

const shortForm = /^prompt:([a-z0-9][a-z0-9._-]{0,127})(?:@(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?))?$/;
const longForm = z.strictObject({
  templateId,
  version: version.optional(),
  variableOverrides: anyJsonObject.optional(),
});

const notARef = 'must be a prompt reference, as prompt:name@1.0.0';

/** Schema of a reference in a config, in either form. */
export const promptRef = z.union([z.string().regex(shortForm, notARef), longForm], notARef);

/** Parses a reference in either form; null when it is invalid. */
export function parsePromptRef(value: unknown): PromptRef | null {
  if (typeof value === 'string') {
    const [, id, pinned] = shortForm.exec(value) ?? [];
    if (id === undefined) return null;
    return pinned === undefined ? { templateId: id } : { templateId: id, version: pinned };
  }
  const parsed = longForm.safeParse(value);
  return parsed.success ? (parsed.data as PromptRef) : null;
}

/** The short form of a reference, which rows use. */
export const refText = ({ templateId: id, version: pinned }: Pick<PromptRef, 'templateId' | 'version'>): string =>
  pinned === undefined ? `prompt:${id}` : `prompt:${id}@${pinned}`;
