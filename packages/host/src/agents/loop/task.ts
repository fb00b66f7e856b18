/** The task of an agent: its text, and validation of tasks and results against their schemas. */
import type { Json, JsonObject } from '@cairn/protocol';
import { passedOn } from '../../engine/nodes/values.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import { taskText } from '../models/task-text.ts';
import { hostileArguments } from '../tools/hostile-arguments.ts';
import type { Agent } from './agent.ts';
import type { AgentContext } from './agent-config.ts';

/** The task of a node: its inputs as text, or its configured prompt when it has none. */
export function nodeTask({ inputs, config }: Pick<AgentContext, 'inputs' | 'config'>): string {
  const text = taskText(passedOn(inputs));
  return text === '' ? (config.prompt ?? text) : text;
}

/** The text of a handoff: the message, followed by its data as JSON. */
export const handedText = (message: string, task: Json | undefined): string =>
  task === undefined ? message : `${message}\n\n${JSON.stringify(task)}`;

export const inWords = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The ways in which a task violates the agent's task schema. */
export const taskProblems = ({ taskSchema }: Pick<Agent, 'taskSchema'>, task: JsonObject): readonly string[] =>
  taskSchema === undefined ? [] : schemaProblems(taskSchema, task);

export type Parsed = { readonly value: Json } | { readonly problems: readonly string[] };

/** Parses a result as JSON and validates it against the schema. */
export function parsedResult(text: string, schema: JsonObject): Parsed {
  let value: Json;
  try {
    value = JSON.parse(withoutFence(text));
  } catch (error) {
    return { problems: [`the answer is not JSON: ${(error as Error).message}`] };
  }
  const hostile = hostileArguments(value);
  if (hostile !== null) return { problems: [hostile] };
  const problems = schemaProblems(schema, value);
  return problems.length === 0 ? { value } : { problems };
}

const FENCE = '```';

/** Models often wrap JSON in a code fence. */
function withoutFence(text: string): string {
  const bare = text.trim();
  const end = bare.indexOf('\n');
  if (end === -1 || !bare.startsWith(FENCE) || !bare.endsWith(FENCE)) return bare;
  return bare.slice(end + 1, -FENCE.length);
}
