/** A human's word on a decision that was held: what may be said, and how it is read. */
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

/** A value that names none of the actions is the decision itself, ratified as it stands. */
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

/** What an answer must look like: an edited decision has the shape that the agent's own would need. */
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
