/** Converts the tools that an MCP server lists into tools of the host, after validating all that the server sent. */

import type { JsonObject } from '@cairn/protocol';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { schemaArguments } from '../../agents/tools/schema-arguments.ts';
import type { HostToolContext, Tool } from '../../agents/tools/tool.ts';
import { MAX_MCP_TOOL_ID, MCP_SCOPE, mcpToolIdPattern } from '../../agents/tools/tool-registry.ts';
import type { StepSafety } from '../../engine/ports.ts';
import { schemaProblems, schemaRefusal } from '../../engine/values/schemas.ts';
import type { McpServerSettings } from './server-settings.ts';

/** Maximum number of tools of one server. */
const MAX_TOOLS = 500;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 4_000;

/** The parts of a tool that its calls need. */
export type KnownTool = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly safety: StepSafety;
};

export interface CheckedListing {
  readonly tools: readonly KnownTool[];
  /** Why tools were left out. */
  readonly refused: readonly string[];
}

export async function checkListing(server: McpServerSettings, listed: readonly ListedTool[]): Promise<CheckedListing> {
  const tools = new Map<string, KnownTool>();
  const refused: string[] = [];
  for (const tool of listed) {
    // To compile one schema may take a few milliseconds.
    await new Promise((resolve) => setImmediate(resolve));
    const read = tools.size < MAX_TOOLS ? readTool(server, tool) : `there are more than ${MAX_TOOLS}`;
    if (typeof read === 'string') refused.push(`${JSON.stringify(tool.name.slice(0, 80))}: ${read}`);
    // Of two tools with the same name, the first one counts, so that a later one cannot replace it.
    else if (!tools.has(tool.name)) tools.set(tool.name, read);
  }
  return { tools: [...tools.values()], refused: refused.slice(0, 20) };
}

const idOf = ({ id }: McpServerSettings, name: string): string => `${MCP_SCOPE}${id}/${name}`;

/** A tool of the host, or why it cannot be one. */
function readTool(server: McpServerSettings, tool: ListedTool): KnownTool | string {
  const { name, title, description, inputSchema, outputSchema } = tool;
  const id = idOf(server, name);
  if (!mcpToolIdPattern.test(id) || id.length > MAX_MCP_TOOL_ID) return 'the name cannot be part of a tool id';
  if (!isSchema(inputSchema) || !(outputSchema === undefined || isSchema(outputSchema)))
    return 'a schema is not an object';
  const refusal = schemaRefusal(inputSchema) ?? (outputSchema === undefined ? null : schemaRefusal(outputSchema));
  if (refusal !== null) return `a schema is refused: ${refusal.slice(0, 200)}`;
  return {
    name,
    ...(title === undefined ? {} : { title: title.slice(0, MAX_TITLE) }),
    ...(description === undefined ? {} : { description: description.slice(0, MAX_DESCRIPTION) }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    safety: server.trustAnnotations ? statedSafety(tool) : 'write',
  };
}

/** It was parsed from JSON, so its members are JSON. */
const isSchema = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function statedSafety({ annotations }: ListedTool): StepSafety {
  if (annotations?.readOnlyHint === true) return 'read';
  return annotations?.idempotentHint === true ? 'idempotent' : 'write';
}

export type CallTool = (tool: KnownTool, input: JsonObject, context: HostToolContext) => Promise<unknown>;

export function hostTool(server: McpServerSettings, tool: KnownTool, call: CallTool): Tool {
  const { name, description = '', inputSchema, outputSchema, safety } = tool;
  return {
    id: idOf(server, name),
    title: tool.title,
    description: description.trim() === '' ? `The tool ${name} of the server ${server.id}.` : description,
    inputSchema,
    outputSchema,
    safety,
    timeoutMs: server.timeoutMs,
    needs: server.needs,
    secrets: [],
    untrusted: true,
    egress: 'host-owned',
    check: (input) => schemaArguments(inputSchema, input),
    safetyOf: () => safety,
    run: (input, context) => call(tool, input as JsonObject, context),
    outputProblems: (result) => (outputSchema === undefined ? [] : schemaProblems(outputSchema, result)),
  };
}
