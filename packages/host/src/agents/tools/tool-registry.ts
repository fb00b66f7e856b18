/** The tools a host offers, by their ids and by the names that models can say. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { Tool } from './tool.ts';

/** `<scope>:<tool>`, short enough to be a model's name for it. */
export const toolIdPattern = /^[a-z0-9][a-z0-9.-]*:[A-Za-z0-9][A-Za-z0-9._-]*$/;
export const MAX_TOOL_ID = 64;

/** Ids that are no tools: the agent loop answers these calls itself. */
export const loopTools = { handoff: 'openwop:handoff', decide: 'openwop:decide' } as const;

const loopToolIds: readonly string[] = Object.values(loopTools);

/** Most providers take letters, digits, `_` and `-`, and no more than 64 of them. */
export const modelName = (toolId: string): string => toolId.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_TOOL_ID);

export class ToolRegistry {
  /** By id. */
  readonly all: readonly Tool[];
  readonly #byId: ReadonlyMap<string, Tool>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #byName: ReadonlyMap<string, Tool>;

  /** Throws `config_invalid` for two tools of one id, and for an id that is the loop's. */
  constructor(tools: readonly Tool[]) {
    this.all = [...tools].sort((a, b) => (a.id < b.id ? -1 : 1));
    const byId = new Map<string, Tool>();
    for (const tool of this.all) {
      if (byId.has(tool.id)) throw taken(tool.id, 'there are two of them');
      if (loopToolIds.includes(tool.id)) throw taken(tool.id, 'the agent loop answers these calls itself');
      byId.set(tool.id, tool);
    }
    this.#byId = byId;
    this.#names = distinctNames(this.all.map(({ id }) => id));
    this.#byName = new Map(this.all.map((tool) => [this.nameOf(tool.id), tool]));
  }

  get(toolId: string): Tool | undefined {
    return this.#byId.get(toolId);
  }

  /** What a model calls it; the same for every agent. */
  nameOf(toolId: string): string {
    return this.#names.get(toolId) ?? modelName(toolId);
  }

  /** By the name that models are shown, or by the id, which some say instead. */
  called(name: string): Tool | undefined {
    return this.#byName.get(name) ?? this.#byId.get(name);
  }
}

/** Two ids may look alike once their dots are gone; in the order of ids, the later one gets a number. */
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
