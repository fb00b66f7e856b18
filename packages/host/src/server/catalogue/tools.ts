/** The tool catalogue over HTTP: the tools that the caller's runs may call, without implementation details. */
import {
  quoted,
  TerminalError,
  type ToolDescriptor,
  toolDescriptor,
  toolList,
  toolSources,
  toolViews,
} from '@cairn/protocol';
import { z } from 'zod';
import { invocable, permitted, type ToolPolicy } from '../../agents/allowlist.ts';
import type { Tool } from '../../agents/tools/tool.ts';
import {
  MAX_MCP_TOOL_ID,
  MAX_TOOL_ID,
  MCP_SCOPE,
  mcpToolIdPattern,
  type ToolRegistry,
  toolIdPattern,
} from '../../agents/tools/tool-registry.ts';
import type { SharedCounters } from '../../engine/shares/shared-counters.ts';
import type { Caller } from '../access/auth.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import { thereIsNo } from '../http/unknown-id.ts';

export interface OfferedTools {
  readonly registry: ToolRegistry;
  readonly policy: ToolPolicy;
  /** Calls a minute, which nodes share. */
  readonly calls: SharedCounters;
  /** Resolves when the tools of other servers are known, or soon if they are not. */
  readonly listed: () => Promise<void>;
  /** Goes on with what a former process left to do at other hosts. */
  readonly open: () => Promise<void>;
  /** Ends the processes of other servers. */
  readonly close: () => Promise<void>;
}

export const toolRoutes = (offered: OfferedTools): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/tools',
    scope: 'manifest:read',
    async handle(call) {
      await offered.listed();
      return list(call, offered);
    },
    doc: {
      id: 'listTools',
      summary: "The tools that agents of the caller's runs may be let call",
      query: listQuery,
      responses: { 200: { description: 'All of them, by id.', shape: toolList } },
      errors: ['validation_error'],
    },
  },
  {
    method: 'GET',
    path: '/v1/tools/{toolId}',
    scope: 'manifest:read',
    async handle(call) {
      await offered.listed();
      return one(call, offered);
    },
    doc: {
      id: 'getTool',
      summary: 'One tool',
      responses: { 200: { description: 'What is known of it.', shape: toolDescriptor } },
      errors: ['not_found'],
    },
  },
];

const listQuery = z.object({
  source: z.enum(toolSources).optional(),
  view: z.enum(toolViews).optional(),
});

function list(call: Call, offered: OfferedTools): string {
  const source = oneOf(call, 'source', toolSources);
  const isCompact = oneOf(call, 'view', toolViews) === 'compact';
  const found = callable(call.caller, offered).map(descriptor);
  const wanted = source === undefined ? found : found.filter((tool) => tool.source === source);
  return JSON.stringify({ tools: isCompact ? wanted.map(withoutSchemas) : wanted });
}

function one(call: Call, offered: OfferedTools): string {
  const toolId = pathParam(call, 'toolId');
  const found = callable(call.caller, offered).find(({ id }) => id === toolId);
  if (found !== undefined) return JSON.stringify(descriptor(found));
  throw new TerminalError('not_found', {
    message: thereIsNo('tool', toolId, isToolId(toolId)),
    hint: 'GET /v1/tools lists those that the caller may use.',
  });
}

const isToolId = (text: string): boolean =>
  (text.length <= MAX_TOOL_ID && toolIdPattern.test(text)) ||
  (text.length <= MAX_MCP_TOOL_ID && mcpToolIdPattern.test(text));

/** A tool that the caller's runs may not call looks like one that does not exist. */
const callable = ({ tenant, toolScopes }: Caller, { registry, policy }: OfferedTools): readonly Tool[] =>
  invocable({ registry, policy: permitted(policy, registry, tenant), scopes: toolScopes });

function descriptor(tool: Tool): ToolDescriptor {
  const { id, title, description, inputSchema, outputSchema, needs, secrets, egress, safety } = tool;
  const scopes = needs.length === 0 ? {} : { scopes: [...needs] };
  const credential = secrets.length === 0 ? {} : { credentialRef: true };
  const auth = { ...scopes, ...credential };
  return {
    toolId: id,
    source: id.startsWith(MCP_SCOPE) ? 'mcp' : 'host-extension',
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(Object.keys(auth).length === 0 ? {} : { auth }),
    egress,
    approval: 'never',
    replayPolicy: replayPolicies[safety],
    // An idempotent tool is safe to repeat, but it still changes something.
    safetyTier: safety === 'idempotent' ? 'write' : safety,
  };
}

const replayPolicies = {
  pure: 'deterministic',
  read: 'non-deterministic',
  write: 'non-deterministic',
  idempotent: 'idempotent',
} as const;

const withoutSchemas = ({ inputSchema: _, outputSchema: __, ...rest }: ToolDescriptor): ToolDescriptor => rest;

function oneOf<Value extends string>(call: Call, name: string, known: readonly Value[]): Value | undefined {
  const given = queryParam(call, name);
  if (given === undefined || known.includes(given as Value)) return given as Value | undefined;
  throw new TerminalError('validation_error', {
    message: `${name} is ${quoted(given, 60)}; it can be ${known.join(', ')}.`,
    hint: 'Leave it out for all of them.',
    details: { parameter: name },
  });
}
