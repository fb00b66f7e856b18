/** The client-executed tools of a message: checked here, then a setting of the agent's node. */
import { type ClientTool, clientToolId, type JsonObject, TerminalError } from '@cairn/protocol';
import { listsTool, permitted } from '../../agents/allowlist.ts';
import { isTaken } from '../../agents/tools/client-tools.ts';
import { schemaProblem } from '../../engine/nodes/config-fields.ts';
import type { OfferedTools } from '../catalogue/tools.ts';

export interface MessageTools {
  /** The tools of the host, and the operator's policy. */
  readonly tools: OfferedTools;
  /** How long the call of a client's tool waits for its result. */
  readonly clientToolTimeoutMs: number;
}

/** Of all tools of a message, as JSON. They are compiled, stored with the run, and sent with every model call. */
const MAX_BYTES = 65_536;

/** Undefined without tools. Whether an agent of the run allows them is checked when the run starts. */
export function clientToolsIn(
  given: readonly ClientTool[] | undefined,
  tenant: string,
  { tools: offered, clientToolTimeoutMs }: MessageTools,
): JsonObject | undefined {
  if (given === undefined || given.length === 0) return undefined;
  const { length } = JSON.stringify(given);
  if (length > MAX_BYTES) {
    throw invalid('tools', `The tools have ${length} characters of JSON; at most ${MAX_BYTES} are taken.`);
  }
  const { registry, policy } = offered;
  const { name: list, lines } = permitted(policy, registry, tenant);
  const names = new Set<string>();
  const tools = given.map(({ name, description, parameters }, place): JsonObject => {
    const field = `tools[${place}]`;
    const id = clientToolId(name);
    if (names.has(name)) throw invalid(`${field}.name`, `Two tools are called ${name}.`);
    names.add(name);
    if (isTaken(registry, name)) throw invalid(`${field}.name`, `The host has a tool that models call ${name}.`);
    if (!listsTool(lines, id)) throw notPermitted(id, list);
    return { name, ...(description !== undefined && { description }), parameters: argumentsSchema(parameters, field) };
  });
  return { timeoutMs: clientToolTimeoutMs, tools };
}

/** Arguments are an object, and providers want the schema to say so. */
function argumentsSchema(parameters: JsonObject, field: string): JsonObject {
  const schema = parameters.type === undefined ? { type: 'object', ...parameters } : parameters;
  if (schema.type !== 'object') {
    throw invalid(`${field}.parameters`, 'The parameters of a tool are the JSON Schema of an object.');
  }
  const problem = schemaProblem(schema);
  if (problem !== null) throw invalid(`${field}.parameters`, `The parameters are no JSON Schema: ${problem}`);
  return schema;
}

const invalid = (field: string, message: string): TerminalError =>
  new TerminalError('validation_error', { message, hint: `Change ${field}.`, details: { field } });

const notPermitted = (toolId: string, list: string): TerminalError =>
  new TerminalError('forbidden', {
    message: `This host does not permit ${toolId}: ${list} has no line for it.`,
    hint: `Add "${toolId}" or "client:*" to ${list} in cairn.json, or send the message without the tool.`,
    details: { toolId },
  });
