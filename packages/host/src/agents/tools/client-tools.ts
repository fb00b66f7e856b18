/**
 * Tools that the client of a conversation executes. The node of the run names them, so that they are pinned with its
 * definition: a replay and a fork have the same ones.
 */
import {
  clientTool,
  clientToolId,
  clientToolNamed,
  type Json,
  type JsonObject,
  MAX_CLIENT_TOOLS,
} from '@cairn/protocol';
import { z } from 'zod';
import { schemaProblems } from '../../engine/values/schemas.ts';
import { exceedsUtf8 } from '../../utf8.ts';
import { hostileArguments } from './hostile-arguments.ts';
import type { CheckedInput, Tool } from './tool.ts';
import { isLoopTool, type ToolLookup } from './tool-registry.ts';

/** The longest timeout a timer supports. */
export const MAX_CLIENT_TIMEOUT_MS = 2_147_483_647;

/** Each call holds its arguments several times: in its row, in its question, and as text in the event of that. */
const MAX_ARGUMENT_BYTES = 120_000;

/** The setting of an agent node. */
export const clientToolSet = z.strictObject({
  timeoutMs: z.int().min(1).max(MAX_CLIENT_TIMEOUT_MS).describe('How long a call waits for its result.'),
  tools: z.array(clientTool).max(MAX_CLIENT_TOOLS),
});

type ClientToolSet = z.infer<typeof clientToolSet>;

export interface ClientTools {
  readonly timeoutMs: number;
  readonly tools: readonly Tool[];
}

/** Kept with the config that has them. */
const known = new WeakMap<object, ClientTools>();

/** The client's tools of a node; null if it has none. */
export function clientToolsOf({
  clientTools,
}: {
  readonly clientTools?: ClientToolSet | undefined;
}): ClientTools | null {
  if (clientTools === undefined) return null;
  const found = known.get(clientTools);
  if (found !== undefined) return found;
  const { timeoutMs, tools } = clientTools;
  const made = { timeoutMs, tools: tools.map(toolOf) };
  known.set(clientTools, made);
  return made;
}

function toolOf({ name, description = '', parameters }: z.infer<typeof clientTool>): Tool {
  return {
    id: clientToolId(name),
    description: description.trim() === '' ? `The tool ${name} of the user's program.` : description,
    inputSchema: parameters,
    safety: 'write',
    timeoutMs: MAX_CLIENT_TIMEOUT_MS,
    needs: [],
    secrets: [],
    untrusted: true,
    egress: 'none',
    check: (input) => checked(parameters, input),
    safetyOf: () => 'write',
    run: () => Promise.reject(new Error('A client executes this tool.')),
    outputProblems: () => [],
  };
}

function checked(parameters: JsonObject, input: Json): CheckedInput {
  const hostile = hostileArguments(input);
  if (hostile !== null) return { ok: false, problems: [hostile] };
  if (exceedsUtf8(JSON.stringify(input), MAX_ARGUMENT_BYTES)) {
    return { ok: false, problems: [`they have more than ${MAX_ARGUMENT_BYTES} bytes of JSON`] };
  }
  const problems = schemaProblems(parameters, input);
  return problems.length === 0 ? { ok: true, input } : { ok: false, problems };
}

/**
 * The tools of a host with those of a client. Models call the latter by the names that the client gave them. A name that a
 * tool of the host has got meanwhile is that of the host's tool.
 */
export function withClientTools(host: ToolLookup, { tools }: ClientTools): ToolLookup {
  const own = new Map<string, Tool>();
  for (const tool of tools) if (!isTaken(host, nameOf(tool.id))) own.set(tool.id, tool);
  return {
    get all() {
      return [...host.all, ...own.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    get: (toolId) => own.get(toolId) ?? host.get(toolId),
    nameOf: (toolId) => (own.has(toolId) ? nameOf(toolId) : host.nameOf(toolId)),
    called: (name) => own.get(clientToolId(name)) ?? own.get(name) ?? host.called(name),
  };
}

/** Whether a tool of the host or of the agent loop has the name. */
export const isTaken = (host: Pick<ToolLookup, 'called'>, name: string): boolean =>
  isLoopTool(name) || host.called(name) !== undefined;

const nameOf = (toolId: string): string => clientToolNamed(toolId) ?? toolId;
