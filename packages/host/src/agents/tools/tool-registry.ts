/** The tools a host offers, by id and by the name that models use. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { Tool } from './tool.ts';

/** `<scope>:<tool>`, short enough for a tool name of a model provider. */
export const toolIdPattern = /^[a-z0-9][a-z0-9.-]*:[A-Za-z0-9][A-Za-z0-9._-]*$/;
export const MAX_TOOL_ID = 64;

/** Begins the ids of the tools of MCP servers: `mcp:<server>/<tool>`. */
export const MCP_SCOPE = 'mcp:';
/** Begins the ids of the tools that call A2A peers: `a2a:<peer>`. */
export const A2A_SCOPE = 'a2a:';
/** Server and tool have names of their own, so these ids may be longer. Models see a cut name. */
export const mcpToolIdPattern = /^mcp:[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._/-]*$/;
export const MAX_MCP_TOOL_ID = 128;

/** Ids that are not tools: the agent loop handles these calls itself. */
export const loopTools = { handoff: 'openwop:handoff', decide: 'openwop:decide' } as const;

const loopToolIds: readonly string[] = Object.values(loopTools);

/** Whether models call a tool of the loop by this name. */
export const isLoopTool = (name: string): boolean => loopToolIds.some((id) => id === name || modelName(id) === name);

/** Most providers accept letters, digits, `_` and `-`, at most 64 characters. */
export const modelName = (toolId: string): string => toolId.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_TOOL_ID);

interface Lookups {
  /** Sorted by id. */
  readonly all: readonly Tool[];
  readonly byId: ReadonlyMap<string, Tool>;
  readonly names: ReadonlyMap<string, string>;
  readonly byName: ReadonlyMap<string, Tool>;
}

/** How the agent loop looks tools up. */
export type ToolLookup = Pick<ToolRegistry, 'all' | 'get' | 'nameOf' | 'called'>;

export class ToolRegistry {
  #lookups: Lookups;

  /** Throws `config_invalid` for a duplicate id, and for an id that the agent loop reserves. */
  constructor(tools: readonly Tool[]) {
    this.#lookups = lookupsOf(tools);
  }

  /** The next call finds these tools. Throws like the constructor, and then keeps the tools it has. */
  replace(tools: readonly Tool[]): void {
    this.#lookups = lookupsOf(tools);
  }

  /** Sorted by id. */
  get all(): readonly Tool[] {
    return this.#lookups.all;
  }

  get(toolId: string): Tool | undefined {
    return this.#lookups.byId.get(toolId);
  }

  /** The name shown to models; the same for every agent. */
  nameOf(toolId: string): string {
    return this.#lookups.names.get(toolId) ?? modelName(toolId);
  }

  /** Finds a tool by its model name, or by its id, which some models use instead. */
  called(name: string): Tool | undefined {
    return this.#lookups.byName.get(name) ?? this.#lookups.byId.get(name);
  }
}

function lookupsOf(tools: readonly Tool[]): Lookups {
  const all = [...tools].sort((a, b) => (a.id < b.id ? -1 : 1));
  const byId = new Map<string, Tool>();
  for (const tool of all) {
    if (byId.has(tool.id)) throw taken(tool.id, 'there are two of them');
    if (loopToolIds.includes(tool.id)) throw taken(tool.id, 'the agent loop answers these calls itself');
    byId.set(tool.id, tool);
  }
  const names = distinctNames(all.map(({ id }) => id));
  const byName = new Map(all.map((tool) => [names.get(tool.id) ?? modelName(tool.id), tool]));
  return { all, byId, names, byName };
}

/** Two ids may map to the same name. In the order of ids, the later one gets a numeric suffix. */
function distinctNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(loopToolIds.map(modelName));
  const names = new Map<string, string>();
  for (const id of ids) {
    const plain = modelName(id);
    let name = plain;
    for (let count = 2; taken.has(name); count++) {
      const suffix = `_${count}`;
      name = plain.slice(0, MAX_TOOL_ID - suffix.length) + suffix;
    }
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

const taken = (id: string, why: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `The tool ${quoted(id, MAX_TOOL_ID)} cannot be offered: ${why}.`,
    hint: 'Give the tool another id.',
  });
