/**
 * The script format of the scripted model: a list of actions per turn. It is easy to write by hand and validated before
 * use.
 */
import { finishReasons, type Json, type JsonObject, modelErrorClasses } from '@cairn/protocol';
import { z } from 'zod';
import { unknownNames } from './template.ts';

const MAX_DELTAS = 1_000_000;
const MAX_DELAY_MS = 600_000;

const json: z.ZodType<Json> = z.json();
const object: z.ZodType<JsonObject> = z.record(z.string(), json);
const count = z.int().min(0);
/** A text, which is split into words, or a list of pieces to stream as given. */
const pieces = z.union([z.string(), z.array(z.string()).max(10_000)], {
  error: 'must be a text, or a list of texts',
});

const actionShape = z.strictObject({
  /** Streams reasoning. */
  think: pieces.optional(),
  /** Streams text. */
  say: pieces.optional(),
  /** Streams a value as JSON, for agents with structured output. */
  answer: json.optional(),
  call: z.strictObject({ tool: z.string().min(1), input: object.default({}) }).optional(),
  handoff: z
    .strictObject({
      to: z.string().min(3),
      message: z.string().min(1),
      /** Data sent with the message. */
      task: object.optional(),
      reason: z.string().optional(),
    })
    .optional(),
  decide: z
    .strictObject({ decision: json, confidence: z.number().optional(), reasoning: z.string().optional() })
    .optional(),
  /** Asks a person: the question, or the full input of the tool `openwop:ask`. */
  ask: z.union([z.string().min(1), object], { error: 'must be a question, or an object' }).optional(),
  fail: z
    .strictObject({
      class: z.enum(modelErrorClasses).default('unknown'),
      message: z.string().optional(),
      retryable: z.boolean().optional(),
      retryAfterMs: count.optional(),
      /** Fails only this many first attempts of the turn. */
      attempts: z.int().min(1).optional(),
    })
    .optional(),
  delay: z.int().min(0).max(MAX_DELAY_MS).optional(),
  /** Streams many deltas of one size, for load tests. */
  stream: z
    .strictObject({
      deltas: z.int().min(1).max(MAX_DELTAS),
      size: z.int().min(1).max(10_000).default(16),
      as: z.enum(['text', 'reasoning']).default('text'),
    })
    .optional(),
  usage: z
    .strictObject({
      inputTokens: count,
      outputTokens: count,
      reasoningTokens: count.optional(),
      cacheReadTokens: count.optional(),
      cacheWriteTokens: count.optional(),
    })
    .optional(),
  finish: z.enum(finishReasons).optional(),
});

const kinds = Object.keys(actionShape.shape).join(', ');

const action = actionShape.superRefine((given, context) => {
  const names = Object.keys(given);
  if (names.length === 1) return;
  const found = names.length === 0 ? 'none' : names.join(' and ');
  context.addIssue({ code: 'custom', message: `must be exactly one of ${kinds}; it is ${found}` });
});

const scriptShape = z.strictObject({
  turns: z.array(z.array(action).max(1000)).min(1).max(200),
});

export type Action = z.infer<typeof actionShape>;
export type Script = z.infer<typeof scriptShape>;

export type ReadScript = { readonly script: Script } | { readonly problems: readonly string[] };

/** Parses a script. Returns it, or a list of problems with their paths. */
export function readScript(value: unknown): ReadScript {
  const parsed = scriptShape.safeParse(value);
  if (!parsed.success) {
    return { problems: parsed.error.issues.map(({ path, message }) => `${placeOf(path)} ${lower(message)}`) };
  }
  const unknown = unknownNames(parsed.data);
  if (unknown.length === 0) return { script: parsed.data };
  return {
    problems: unknown.map(
      ({ path, name }) => `${placeOf(path)} uses {{${name}}}: only input, task and last can be filled in`,
    ),
  };
}

/** Formats a path, such as `turns[0][2].call.tool`. */
function placeOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (whole, part) =>
      typeof part === 'number' ? `${whole}[${part}]` : `${whole}${whole === '' ? '' : '.'}${String(part)}`,
    '',
  );
  return text === '' ? 'the script' : text;
}

const lower = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);
