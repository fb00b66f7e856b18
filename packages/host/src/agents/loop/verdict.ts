/** The human verdict on a held decision: its schema and its parser. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { schemaAsPart } from './schema-part.ts';

export type Verdict =
  | { readonly action: 'approve' | 'edit'; readonly decision: Json }
  | {
      readonly action: 'reject';
      readonly feedback: string | null;
      readonly isFinal: boolean;
      readonly timedOut: boolean;
    };

const actions = ['approve', 'edit', 'reject'];

/** Treats a value without a known action as the edited decision itself. */
export function verdictOf(held: Json, value: Json, timedOut: boolean): Verdict {
  if (timedOut) return { action: 'reject', feedback: null, isFinal: true, timedOut };
  const { action, decision, feedback, final } = fieldsOf(value);
  switch (action) {
    case 'approve':
      return { action, decision: held };
    case 'edit':
      return { action, decision: decision ?? null };
    case 'reject': {
      const words = typeof feedback === 'string' && feedback !== '' ? feedback : null;
      return { action, feedback: words, isFinal: final === true, timedOut };
    }
    default:
      return { action: 'edit', decision: value };
  }
}

const fieldsOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {});

/** The schema of an answer. An edited decision must satisfy the agent's return schema. */
export function verdictSchema(returnSchema: JsonObject | undefined, description: string): JsonObject {
  const decision = { $ref: '#/$defs/decision' };
  return {
    description,
    if: { type: 'object', required: ['action'], properties: { action: { enum: actions } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      additionalProperties: false,
      properties: {
        action: { enum: actions },
        decision,
        feedback: { type: 'string', maxLength: 20_000 },
        final: { type: 'boolean' },
      },
      if: { properties: { action: { const: 'edit' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['decision'] },
    },
    else: decision,
    $defs: { decision: returnSchema === undefined ? {} : schemaAsPart(returnSchema, '#/$defs/decision') },
  };
}
