/** Reads the inputs of a run: `name=value` pairs, a JSON file, or both. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject, type WorkflowDefinition } from '@cairn/protocol';
import { truthOf } from './answer-words.ts';
import { errorText } from './error-text.ts';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

/** The type of a variable. Without a type, a value is JSON if it parses, else text. */
export type TypeOf = (name: string) => string | undefined;

export const typesOf =
  (definition: WorkflowDefinition | null): TypeOf =>
  (name) =>
    definition?.variables.find((variable) => variable.name === name)?.type;

/** Parses `city=Bern n=3` into an object; every pair needs a name. */
export function parsePairs(pairs: readonly string[], typeOf: TypeOf): JsonObject {
  const inputs: Record<string, Json> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) {
      throw usageError(`${JSON.stringify(pair)} does not have the form name=value.`, 'Use for example city=Bern.');
    }
    const name = pair.slice(0, at);
    Object.defineProperty(inputs, name, {
      value: parseValue(name, pair.slice(at + 1), typeOf(name)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return inputs;
}

function parseValue(name: string, text: string, type: string | undefined): Json {
  if (type === 'string') return text;
  const value = type === 'boolean' ? truthOf(text) : jsonOr(text);
  if (type === undefined) return value ?? text;
  const fits = type === 'array' ? Array.isArray(value) : typeof value === type && !Array.isArray(value);
  if (value !== undefined && fits) return value;
  throw usageError(
    `${name} must be ${type === 'array' || type === 'object' ? 'an' : 'a'} ${type}, not ${JSON.stringify(text)}.`,
    fixes[type] ?? 'Correct the value.',
  );
}

const fixes: Readonly<Record<string, string>> = {
  object: 'Write it as JSON, and quote it for the shell.',
  array: 'Write it as JSON, and quote it for the shell.',
  boolean: 'Use yes or no, or true or false.',
};

function jsonOr(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a JSON object from a file; `-` is stdin. */
export function readJsonFile(terminal: Terminal, file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : resolve(terminal.cwd, file), 'utf8');
  } catch (cause) {
    throw usageError(`${file} cannot be read: ${errorText(cause)}.`, 'Check the path.');
  }
  const value = jsonOr(text);
  if (isJsonObject(value)) return value;
  throw usageError(
    `${file === '-' ? 'stdin' : file} does not contain a JSON object.`,
    'Use the form {"name": "value", …}.',
  );
}
