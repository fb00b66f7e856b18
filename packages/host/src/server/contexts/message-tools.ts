/** The client-executed tools of a message: checked here, then a setting of the agent's node. */
import { type ClientTool, clientToolId, type JsonObject, TerminalError } from '@cairn/protocol';
import { listsTool, permitted } from '../../agents/allowlist.ts';
import { isTaken } from '../../agents/tools/client-tools.ts';
import { schemaProblem } from '../../engine/nodes/config-fields.ts';
import { measure } from '../../engine/workflow/definition-cost.ts';
import type { FairTurns } from '../../fair-turns.ts';
import type { OfferedTools } from '../catalogue/tools.ts';

export interface MessageTools {
  /** The tools of the host, and the operator's policy. */
  readonly tools: OfferedTools;
  /** How long the call of a client's tool waits for its result. */
  readonly clientToolTimeoutMs: number;
  /** Schemas are compiled in turns with other work, tenant by tenant. */
  readonly schemaTurns: FairTurns;
}

/** Of all tools of a message, as JSON. They are compiled, stored with the run, and sent with every model call. */
const MAX_BYTES = 65_536;

/** What the patterns of all tools of a message may cost to compile, in the units of definitions: about 20 ms. */
const MAX_COST = 1_000_000;

/** Undefined without tools. Whether an agent of the run allows them is checked when the run starts. */
export async function clientToolsIn(
  given: readonly ClientTool[] | undefined,
  tenant: string,
  { tools: { registry, policy }, clientToolTimeoutMs, schemaTurns: turns }: MessageTools,
): Promise<JsonObject | undefined> {
  if (given === undefined || given.length === 0) return undefined;
  const { length } = JSON.stringify(given);
  if (length > MAX_BYTES) {
    throw invalid('tools', `The tools have ${length} characters of JSON; at most ${MAX_BYTES} are taken.`);
  }
  const { name: list, lines } = permitted(policy, registry, tenant);
  const names = new Set<string>();
  const tools: JsonObject[] = [];
  let cost = 0;
  for (const [place, { name, description, parameters }] of given.entries()) {
    const field = `tools[${place}]`;
    const id = clientToolId(name);
    if (names.has(name)) throw invalid(`${field}.name`, `Two tools are called ${name}.`);
    names.add(name);
    if (isTaken(registry, name)) throw invalid(`${field}.name`, `The host has a tool that models call ${name}.`);
    if (!listsTool(lines, id)) throw notPermitted(id, list);
    const own = measure(parameters).cost;
    cost += own;
    if (cost > MAX_COST) throw tooCostly(cost);
    const schema = await turns.take(tenant, () => {
      turns.charge(TOOL_COST + own);
      return argumentsSchema(parameters, field);
    });
    tools.push({ name, ...(description !== undefined && { description }), parameters: schema });
  }
  return { timeoutMs: clientToolTimeoutMs, tools };
}

/** What a tool costs of a turn of the event loop besides its patterns, in characters. */
const TOOL_COST = 8_192;

const tooCostly = (cost: number): TerminalError =>
  invalid('tools', `The patterns of the tools cost ${cost} units to compile; at most ${MAX_COST} are taken.`);

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
