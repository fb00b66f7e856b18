/** Workflows and agents as tools: their names, their schemas, and the run that a call starts. */
import {
  type AgentInventoryEntry,
  CAUSATION_KEY,
  isJsonObject,
  type Json,
  type JsonObject,
  parseRunId,
  parseShape,
  quoted,
  type RunId,
  sendMessage,
  type WorkflowDefinition,
} from '@cairn/protocol';
import type { AgentRegistry } from '../../agents/registry.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import { type MessageSurface, startTask } from '../contexts/messages.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import type { Call } from '../http/routes.ts';
import { statedCaller } from '../peers/stated-caller.ts';
import { McpError } from './rpc.ts';

export interface ToolPorts {
  readonly engine: Engine;
  readonly definitions: Definitions;
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly conversations: MessageSurface;
  readonly cursors: PageCursors;
  readonly runsAgents: boolean;
  readonly report: Report;
}

/** Something that a call can start. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly runs: { readonly workflowId: string } | { readonly agentId: string };
}

/** Tools in one page of the list. */
const PAGE = 100;

/** Workflows by id, then agents by id. */
export async function listedTools({ caller }: Call, ports: ToolPorts, cursor: string | undefined) {
  const { tenant } = caller;
  const names = await namesOf(tenant, ports);
  const after = ports.cursors.placeOf(tenant, cursor);
  const from = after === undefined ? 0 : Number(after);
  const tools = [];
  for (const name of names.slice(from, from + PAGE)) {
    const tool = await toolOf(tenant, name, ports);
    if (tool !== null) tools.push(shown(tool));
  }
  const next = from + PAGE < names.length ? String(from + PAGE) : null;
  const nextCursor = ports.cursors.shown(tenant, next);
  return { tools, ...(nextCursor !== null && { nextCursor }) };
}

const shown = ({ name, title, description, inputSchema }: McpTool) => ({ name, title, description, inputSchema });

/** The name of a workflow has no dot, so that no agent has the name of a workflow. */
const AGENT = 'agent.';

/** An id holds characters that the name of a tool does not. */
const agentName = (agentId: string): string => AGENT + agentId.replaceAll(/[^A-Za-z0-9_.-]/g, '.');

async function namesOf(tenant: string, { definitions, registry, runsAgents }: ToolPorts): Promise<readonly string[]> {
  const workflows = (await definitions.workflows(tenant)).map(({ workflowId }) => workflowId);
  const agents = runsAgents ? (await registry.agents(tenant)).map(({ agentId }) => agentName(agentId)) : [];
  return [...new Set([...workflows, ...agents])];
}

/** Null if the tenant has none of this name. */
async function toolOf(tenant: string, name: string, ports: ToolPorts): Promise<McpTool | null> {
  if (name.startsWith(AGENT)) {
    const agents = ports.runsAgents ? await ports.registry.agents(tenant) : [];
    const agent = agents.find(({ agentId }) => agentName(agentId) === name);
    return agent === undefined ? null : agentTool(agent, name);
  }
  const record = await ports.definitions.workflow(tenant, name);
  return record === null ? null : workflowTool(await ports.engine.workflow(tenant, name));
}

/** Longest description. It reaches the model of the client with every request. */
const MAX_DESCRIPTION = 2_000;

function workflowTool({ id, name, description, variables, channels = {} }: WorkflowDefinition): McpTool {
  const inputs = variables.filter((variable) => !Object.hasOwn(channels, variable.name));
  const properties = inputs.map(({ name: input, type, description: about, defaultValue }) => [
    input,
    {
      type,
      ...(about !== undefined && { description: about.slice(0, MAX_DESCRIPTION) }),
      ...(defaultValue !== undefined && { default: defaultValue }),
    },
  ]);
  const required = inputs.flatMap(({ name: input, required: isRequired, defaultValue }) =>
    isRequired === true && defaultValue === undefined ? [input] : [],
  );
  const schema = { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
  return {
    name: id,
    title: name,
    description: (description ?? `Runs the workflow ${name}.`).slice(0, MAX_DESCRIPTION),
    // The engine checks the inputs of a run in any case.
    inputSchema: JSON.stringify(schema).length > MAX_SCHEMA ? { type: 'object' } : schema,
    runs: { workflowId: id },
  };
}

/** Longest schema of a tool, in characters. */
const MAX_SCHEMA = 60_000;

function agentTool({ agentId, label, description, persona }: AgentInventoryEntry, name: string): McpTool {
  return {
    name,
    title: label,
    description: (description ?? `Sends a message to the agent ${persona}.`).slice(0, MAX_DESCRIPTION),
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'What the agent is asked.' },
        contextId: { type: 'string', minLength: 1, maxLength: 128, description: 'The conversation that it continues.' },
      },
      required: ['message'],
      additionalProperties: false,
    },
    runs: { agentId },
  };
}

/** Throws `-32602` for a tool that the tenant does not have. */
export async function toolNamed({ caller }: Call, params: JsonObject, ports: ToolPorts): Promise<McpTool> {
  const { name } = params;
  if (typeof name !== 'string' || name.length > 300) throw new McpError('params', 'name must be the name of a tool.');
  const found = await toolOf(caller.tenant, name, ports);
  if (found === null) throw new McpError('params', 'There is no such tool. tools/list names those of the tenant.');
  return found;
}

/** What is wrong with the arguments of a call; empty if nothing is. */
export function argumentProblems({ inputSchema }: McpTool, given: JsonObject): readonly string[] {
  const { properties } = inputSchema;
  const unknown = isJsonObject(properties) ? Object.keys(given).filter((name) => !Object.hasOwn(properties, name)) : [];
  if (unknown.length === 0) return schemaProblems(inputSchema, given);
  return unknown.slice(0, 10).map((name) => `there is no argument ${quoted(name, 60)}`);
}

export interface ToolStart {
  readonly tool: McpTool;
  readonly given: JsonObject;
  readonly meta: JsonObject;
}

/** Starts the run of a call. The arguments fit its schema. */
export async function startedRun(call: Call, ports: ToolPorts, { tool, given, meta }: ToolStart): Promise<RunId> {
  const stated = { stated: meta[CAUSATION_KEY], cause: 'mcp-tool-call' as const };
  const caller = statedCaller(call.caller, stated, ports.report);
  // That of the message comes before that of the headers. Garbage is no trace.
  const trace = inboundTrace(meta) ?? inboundTrace(call.request.headers);
  const { runs } = tool;
  if ('workflowId' in runs) {
    const { tenant, principal, toolScopes } = call.caller;
    const about = { tenant, principal, toolScopes, ...runs, inputs: given, options: {} };
    return (await ports.engine.start({ ...about, trace, caller, transport: 'mcp' })).runId;
  }
  const content = given.message;
  const body = parseShape(sendMessage, { message: { role: 'user', content }, ...runs }, 'The message');
  const contextId = typeof given.contextId === 'string' ? given.contextId : undefined;
  const about = { body, contextId, ifBusy: 'queue' as const, trace, caller, transport: 'mcp' as const };
  const ids: Json = JSON.parse(await startTask(call, ports.conversations, about));
  // The command set the status of its own surface.
  call.reply.code(200);
  const runId = isJsonObject(ids) ? parseRunId(String(ids.taskId)) : null;
  if (runId === null) throw new Error('A task that started has an id.');
  return runId;
}
