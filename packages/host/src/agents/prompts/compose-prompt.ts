/** Fills the slots of a template, and hashes the result for the record. */
import { type Json, type JsonObject, type PayloadOf, TerminalError } from '@cairn/protocol';
import type { PromptTemplate, PromptVariable, Sha256 } from '../../engine/ports.ts';
import { CostExceeded, spend } from '../../engine/values/cost-budget.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import { type PromptKind, type PromptRef, refText } from './prompt-template.ts';

export interface ComposedPrompt {
  readonly text: string;
  /** Payload of the row `prompt.composed`: hashes only, no text. */
  readonly payload: PayloadOf<'prompt.composed'>;
}

/** `{{name}}` in the text of a template. */
export const slot = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_]{0,63})\s*\}\}/g;

/** The message that each kind of prompt belongs to. */
const shapes: Readonly<Record<PromptKind, 'system-only' | 'user-only'>> = {
  system: 'system-only',
  'schema-hint': 'system-only',
  user: 'user-only',
  'few-shot': 'user-only',
};

type Place = Pick<NodeContext, 'node' | 'inputs' | 'runId' | 'visit' | 'state' | 'expressionBudget'>;

/** What a prompt costs besides its text: two rows, which are hashed and written. */
const EACH = 1_000;

/** Characters of one unit. Building and hashing takes longer, but a text of a megabyte is a usual prompt. */
const CHARACTERS = 8;

/**
 * Throws `prompt_variable_unresolved` for a required slot without a value, and `config_validation_failed` beyond the
 * cost of a decision. Both fail the node.
 */
export function composePrompt(template: PromptTemplate, ref: PromptRef, place: Place, sha256: Sha256): ComposedPrompt {
  try {
    return composed(template, ref, place, sha256);
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error;
    throw new TerminalError('config_validation_failed', {
      message: `The prompts of node ${place.node.id} are too many or too large: they exceed the cost limit of ${place.expressionBudget.limit} units.`,
      hint: 'Refer to fewer templates, or give them less data. An operator can raise limits.expressionCost.',
      details: { nodeId: place.node.id, limit: place.expressionBudget.limit },
    });
  }
}

function composed(template: PromptTemplate, ref: PromptRef, place: Place, sha256: Sha256): ComposedPrompt {
  const charge = (characters: number) => spend(place.expressionBudget, characters / CHARACTERS);
  spend(place.expressionBudget, EACH);
  const values = new Map<string, string>();
  const fill = (name: string): string => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = inWords(filledWith(template, name, ref.variableOverrides ?? {}, place));
    charge(value.length);
    values.set(name, value);
    return value;
  };
  charge(template.text.length);
  for (const [, name = ''] of template.text.matchAll(slot)) charge(fill(name).length);
  const text = template.text.replace(slot, (_, name: string) => fill(name));
  // Required slots are checked even when the text does not use them.
  for (const { name, required } of template.variables ?? []) if (required) fill(name);
  const hash = (words: string): string => `sha256:${sha256(words, 'hex')}`;
  const variableHashes = Object.fromEntries([...values].map(([name, value]) => [name, hash(value)]));
  const { templateId, version, kind } = template;
  const refs = [refText({ templateId, version })];
  return {
    text,
    payload: { nodeId: place.node.id, refs, kind: shapes[kind], hash: hash(text), variableHashes },
  };
}

const inWords = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

function filledWith(template: PromptTemplate, name: string, overrides: JsonObject, place: Place): Json {
  const declared = template.variables?.find((variable) => variable.name === name);
  const value = Object.hasOwn(overrides, name) ? overrides[name] : valueAt(declared, name, place);
  if (value !== undefined) return value;
  if (declared?.required !== true) return (declared?.defaultValue as Json | undefined) ?? '';
  const { templateId, version } = template;
  throw new TerminalError('prompt_variable_unresolved', {
    message: `Node ${place.node.id} gives no ${declared.source ?? 'input'} ${name}, which ${refText({ templateId, version })} needs.`,
    hint: `Give the node an input called ${name}, or the reference a value for it.`,
    details: { nodeId: place.node.id, variable: name, ref: refText({ templateId, version }) },
  });
}

function valueAt(declared: PromptVariable | undefined, name: string, place: Place): Json | undefined {
  const source = declared?.source ?? 'input';
  const from: JsonObject =
    source === 'input'
      ? place.inputs
      : source === 'variable'
        ? place.state.view.variables
        : { runId: place.runId, nodeId: place.node.id, visit: place.visit };
  return Object.hasOwn(from, name) ? from[name] : undefined;
}
