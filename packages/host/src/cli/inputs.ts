/** The inputs of a run out of the command line: `name=value` pairs, or a file of JSON, or both. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Json, JsonObject, WorkflowDefinition } from '@cairn/protocol';
import type { Terminal } from './terminal.ts';
import { usageError } from './usage-error.ts';

/** A value is read as its variable's type says; where nobody says, as JSON if it is some, else as text. */
export type TypeOf = (name: string) => string | undefined;

export const typesOf =
  (definition: WorkflowDefinition | null): TypeOf =>
  (name) =>
    definition?.variables.find((variable) => variable.name === name)?.type;

/** `city=Bern n=3` as an object; a pair without a name is refused. */
export function parsePairs(pairs: readonly string[], typeOf: TypeOf): JsonObject {
  const inputs: Record<string, Json> = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) {
      throw usageError(`${JSON.stringify(pair)} is not of the form name=value.`, 'Write for example city=Bern.');
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
  const value = jsonOr(text);
  if (type === undefined) return value ?? text;
  const fits = type === 'array' ? Array.isArray(value) : typeof value === type && !Array.isArray(value);
  if (value !== undefined && fits) return value;
  throw usageError(
    `${name} has to be ${type === 'array' || type === 'object' ? 'an' : 'a'} ${type}, not ${JSON.stringify(text)}.`,
    type === 'object' || type === 'array' ? 'Write it as JSON, in quotes for the shell.' : 'Correct the value.',
  );
}

function jsonOr(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A JSON object out of a file; `-` is stdin. */
export function readJsonFile(terminal: Terminal, file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : resolve(terminal.cwd, file), 'utf8');
  } catch (cause) {
    throw usageError(`${file} cannot be read: ${(cause as Error).message}.`, 'Check the path.');
  }
  const value = jsonOr(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw usageError(`${file === '-' ? 'stdin' : file} does not hold a JSON object.`, 'Write {"name": "value", …}.');
}
