/** What an agent is asked to do: its words, and whether they are of the shape that the agent takes. */
import type { Json, JsonObject } from '@cairn/protocol';
import { passedOn } from '../../engine/nodes/values.ts';
import { compileSchema } from '../../engine/values/schemas.ts';
import { taskText } from '../models/task-text.ts';
import { hostileArguments } from '../tools/hostile-arguments.ts';
import type { Agent } from './agent.ts';

/** The task of a node: its inputs in words, or the prompt of a node that has none. */
export function nodeTask(inputs: JsonObject, config: JsonObject): string {
  const text = taskText(passedOn(inputs));
  return text === '' && typeof config.prompt === 'string' ? config.prompt : text;
}

/** What is handed on: the words, and the data that goes with them. */
export const handedText = (message: string, task: Json | undefined): string =>
  task === undefined ? message : `${message}\n\n${JSON.stringify(task)}`;

export const inWords = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The ways in which a task breaks the shape that its agent takes. */
export const taskProblems = ({ taskSchema }: Pick<Agent, 'taskSchema'>, task: JsonObject): readonly string[] =>
  taskSchema === undefined ? [] : compileSchema(taskSchema)(task);

export type Parsed = { readonly value: Json } | { readonly problems: readonly string[] };

/** A result as its schema has it. */
export function parsedResult(text: string, schema: JsonObject): Parsed {
  let value: Json;
  try {
    value = JSON.parse(withoutFence(text));
  } catch (error) {
    return { problems: [`the answer is not JSON: ${(error as Error).message}`] };
  }
  const hostile = hostileArguments(value);
  if (hostile !== null) return { problems: [hostile] };
  const problems = compileSchema(schema)(value);
  return problems.length === 0 ? { value } : { problems };
}

const FENCE = '```';

/** Models like to put JSON into a fence. */
function withoutFence(text: string): string {
  const bare = text.trim();
  const end = bare.indexOf('\n');
  if (end === -1 || !bare.startsWith(FENCE) || !bare.endsWith(FENCE)) return bare;
  return bare.slice(end + 1, -FENCE.length);
}
