/** Workflows and agents as tools: their names, their schemas, and the run that a call starts. */
import {
  type AgentInventoryEntry,
  BUDGET_KEY,
  CAUSATION_KEY,
  isJsonObject,
  type Json,
  type JsonObject,
  parseShape,
  quoted,
  sendMessage,
} from '@cairn/protocol';
import type { AgentRegistry } from '../../agents/registry.ts';
import type { Engine, RunStarted } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import { schemaProblems } from '../../engine/values/schemas.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import type { WorkflowFace, WorkflowFaces } from '../catalogue/workflow-faces.ts';
import { type StartTaskPorts, startTask } from '../contexts/start-task.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import type { Call } from '../http/routes.ts';
import { statedBudget, statedCaller } from '../peers/stated-caller.ts';
import { McpError } from './rpc.ts';

export interface ToolPorts {
  readonly engine: Engine;
  readonly definitions: Definitions;
  readonly faces: WorkflowFaces;
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly conversations: StartTaskPorts;
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

/** Whether a message calls a workflow, or what may be one. */
export function callsWorkflow(body: Json | undefined): boolean {
  const params = isJsonObject(body) && body.method === 'tools/call' ? body.params : undefined;
  const name = isJsonObject(params) ? params.name : undefined;
  return typeof name === 'string' && !name.startsWith(AGENT);
}

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
  return record === null ? null : workflowTool(await ports.faces.of(record));
}

/** Longest description. It reaches the model of the client with every request. */
const MAX_DESCRIPTION = 2_000;

/** A definition never changes, so its tool is made once, and its schema compiled once. */
const workflowTools = new WeakMap<WorkflowFace, McpTool>();

function workflowTool(face: WorkflowFace): McpTool {
  const known = workflowTools.get(face);
  if (known !== undefined) return known;
  const tool = toolFor(face);
  workflowTools.set(face, tool);
  return tool;
}

/** The engine checks the inputs of a run in any case. */
function toolFor({ id, name, description, inputs }: WorkflowFace): McpTool {
  const about = { name: id, title: name, description, runs: { workflowId: id } };
  return { ...about, inputSchema: inputs === null ? { type: 'object' } : inputSchemaOf(inputs) };
}

function inputSchemaOf(inputs: NonNullable<WorkflowFace['inputs']>): JsonObject {
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
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

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

/** A run that a call has started. */
export interface StartedRun extends Pick<RunRecord, 'runId' | 'contextId' | 'tenant'> {
  /** It has just begun, and its context with it: memory has all its rows. */
  readonly isNew: boolean;
}

/** Starts the run of a call. The arguments fit its schema. */
export async function startedRun(call: Call, ports: ToolPorts, { tool, given, meta }: ToolStart): Promise<StartedRun> {
  const stated = { stated: meta[CAUSATION_KEY], cause: 'mcp-tool-call' as const };
  const caller = statedCaller(call.caller, stated, ports.report);
  const callBudget = statedBudget(meta[BUDGET_KEY]);
  // That of the message comes before that of the headers. Garbage is no trace.
  const trace = inboundTrace(meta) ?? inboundTrace(call.request.headers);
  const { runs } = tool;
  const { tenant, principal, toolScopes } = call.caller;
  if ('workflowId' in runs) {
    const about = { tenant, principal, toolScopes, ...runs, inputs: given, options: {} };
    const { runId, contextId } = await ports.engine.start({ ...about, trace, caller, callBudget, transport: 'mcp' });
    return { runId, contextId, tenant, isNew: true };
  }
  const content = given.message;
  const body = parseShape(sendMessage, { message: { role: 'user', content }, ...runs }, 'The message');
  const named = typeof given.contextId === 'string' ? given.contextId : undefined;
  const about = {
    body,
    contextId: named,
    ifBusy: 'queue' as const,
    trace,
    caller,
    callBudget,
    transport: 'mcp' as const,
  };
  const begun = Promise.withResolvers<RunStarted>();
  const recorded = (started: RunStarted): string => {
    begun.resolve(started);
    return '';
  };
  await startTask(call, ports.conversations, { ...about, recorded });
  // The command set the status of its own surface.
  call.reply.code(200);
  const { runId, contextId } = await begun.promise;
  return { runId, contextId, tenant, isNew: named === undefined };
}
