/**
 * Builds the questions of a tool for the record. They are validated when asked, so that every question can be answered.
 */
import { type Json, type JsonObject, quoted, TerminalError, urgencies } from '@cairn/protocol';
import { z } from 'zod';
import { compileSchema } from '../../engine/values/schemas.ts';
import type { AskOption, HostQuestion, PersonQuestion } from './tool.ts';
import { parsed, toolSchemaOf } from './zod-schemas.ts';

/** Questions are shown on screens and sent to phones. */
const MAX_PROMPT = 4000;
/** Room for the reason why an answer was refused. */
const MAX_REASON = 1000;
/** A person reads all of them. */
const MAX_OPTIONS = 200;
const MAX_OPTION_CHARACTERS = 32_768;
/** The longest timeout a timer supports. */
const MAX_WAIT_MS = 2_147_483_647;

/** A question for the record, and what its recorded answer means to the function. */
export interface Asked<Answer> {
  readonly question: PersonQuestion;
  /** Called when there is no answer yet: completes the question, or finds that there is nothing to ask. */
  readonly prepare?: () => Promise<{ readonly ready: Json } | { readonly question: PersonQuestion }>;
  /** Throws when no answer can be read. */
  read(answer: Json): { readonly value: Answer } | { readonly problem: string };
}

export function asked<Answer>(question: HostQuestion<Answer>): Asked<Answer> {
  const { prompt, name = prompt, schema, options, requireUser = false, urgency, timeoutMs, remote, subkind } = question;
  checkWords(prompt, name);
  checkWait(timeoutMs);
  checkUrgency(urgency);
  const stated = schema instanceof z.ZodType ? shownSchema(schema) : schema;
  const shown = options === undefined ? stated : withOptions(options, stated);
  if (shown !== undefined) checkSchema(shown);
  return {
    question: {
      kind: 'ask',
      name,
      prompt,
      ...(shown === undefined ? {} : { schema: shown }),
      ...(requireUser ? { requireUser } : {}),
      ...(urgency === undefined ? {} : { urgency }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(remote === undefined ? {} : { remote }),
      ...(subkind === undefined ? {} : { subkind }),
    },
    read: (answer) => (schema instanceof z.ZodType ? parsedAnswer(schema, answer) : { value: answer as Answer }),
  };
}

/** The same question once more, with the reason why its last answer was refused. */
export const askedAgain = (question: PersonQuestion, problem: string): PersonQuestion => ({
  ...question,
  prompt: `${question.prompt.slice(0, MAX_PROMPT - MAX_REASON)}\n\nThe last answer does not fit: ${problem}`,
});

/** The options as a schema, so that every answer is checked against them and every reader of the question sees them. */
function withOptions(options: readonly AskOption[], schema: JsonObject | undefined): JsonObject {
  if (options.length === 0 || options.length > MAX_OPTIONS) {
    throw wrong(`has ${options.length} options; between 1 and ${MAX_OPTIONS} can be shown`);
  }
  const oneOf = options.map((option): JsonObject => {
    if (typeof option !== 'object') return { const: option, title: String(option) };
    const { value, label, description } = option;
    if (typeof label !== 'string' || label === '') throw wrong('has an option without a label');
    return { const: value, title: label, ...(description === undefined ? {} : { description }) };
  });
  const chosen = { oneOf };
  if (JSON.stringify(chosen).length > MAX_OPTION_CHARACTERS) {
    throw wrong(`has options of more than ${MAX_OPTION_CHARACTERS} characters of JSON`);
  }
  return schema === undefined ? chosen : { ...chosen, allOf: [schema] };
}

/** A JSON Schema cannot state every rule of a zod schema, so a recorded answer may still be refused. */
function parsedAnswer<Answer>(schema: z.ZodType<Answer>, answer: Json): ReturnType<Asked<Answer>['read']> {
  const read = parsed(schema, answer);
  if ('value' in read) return read;
  if ('refused' in read) throw wrong(`has a schema that cannot check an answer: ${read.refused}`);
  return { problem: read.problems.join('; ').slice(0, MAX_REASON / 2) };
}

function shownSchema(schema: z.ZodType): JsonObject {
  try {
    return toolSchemaOf(schema);
  } catch (error) {
    throw wrong(
      `has a schema that no JSON Schema can state: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export function checkWords(prompt: unknown, name: unknown): void {
  if (typeof prompt !== 'string' || prompt.trim() === '') throw wrong('has no prompt');
  if (prompt.length > MAX_PROMPT) throw wrong(`has ${prompt.length} characters; at most ${MAX_PROMPT} are shown`);
  if (typeof name !== 'string' || name === '' || name.length > MAX_PROMPT) throw wrong('has a name that cannot be one');
}

export function checkWait(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined) return;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_WAIT_MS) return;
  throw wrong(`has the timeoutMs ${timeoutMs}, which is not a whole number of milliseconds`);
}

function checkUrgency(urgency: string | undefined): void {
  if (urgency === undefined || urgencies.some((known) => known === urgency)) return;
  throw wrong(`has the urgency ${quoted(urgency, 40)}, which is none of ${urgencies.join(', ')}`);
}

function checkSchema(schema: JsonObject): void {
  try {
    compileSchema(schema);
  } catch (error) {
    throw wrong(`has a schema that is none: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const wrong = (why: string): TerminalError =>
  new TerminalError('tool_failed', { message: `The question of the tool ${why}.` });
