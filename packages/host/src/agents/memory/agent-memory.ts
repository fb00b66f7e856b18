/** Which memories an agent has, by what its manifest says, and what it does with them through its tools. */
import type { AgentManifest, Json, JsonObject, RunId } from '@cairn/protocol';
import { quoted, TerminalError } from '@cairn/protocol';
import type { AgentPin, AgentShelf } from '../../engine/ports.ts';
import type { EventLog } from '../../log/port.ts';
import type { MemoryName, MemoryPort, MemoryQuery, NewMemory } from '../tools/memory-tools.ts';
import type { HostToolContext } from '../tools/tool.ts';
import type { Memory, MemoryCall, MemoryEntry } from './memory.ts';
import { longTermRef } from './memory-refs.ts';

/** From the one that lasts longest to the one that ends with the run. */
const names: readonly MemoryName[] = ['long-term', 'conversation', 'scratchpad'];

type MemoryShape = AgentManifest['memoryShape'];

const shapeKeys = { 'long-term': 'longTerm', conversation: 'conversation', scratchpad: 'scratchpad' } as const;

export interface Recollection extends MemoryEntry {
  /** Which of the agent's memories it is in. */
  readonly memory: MemoryName;
}

type AgentCall = MemoryCall & Pick<HostToolContext, 'contextId'>;

export interface AgentMemoryWorld {
  readonly memory: Memory;
  readonly log: Pick<EventLog, 'read'>;
  readonly shelf: Pick<AgentShelf, 'definition'>;
  readonly now: () => number;
}

const DEFAULT_RECALLED = 10;
const MAX_RECALLED = 50;
/** All that one recall gives, in characters: it becomes a part of an event and of a prompt. */
const MAX_RECALLED_LENGTH = 64_000;

export class AgentMemory implements MemoryPort {
  readonly #world: AgentMemoryWorld;

  constructor(world: AgentMemoryWorld) {
    this.#world = world;
  }

  /** Keeps it in the memory that was named, or in the one of the agent's that lasts longest. */
  async remember(call: AgentCall, { memory, ttlMs, ...entry }: NewMemory): Promise<Recollection> {
    const [name] = (await this.#memoriesOf(call, memory)) as [MemoryName];
    const expiry = ttlMs === undefined ? {} : { expiresAt: this.#world.now() + ttlMs };
    return { ...(await this.#world.memory.put(call, refOf(name, call), { ...entry, ...expiry })), memory: name };
  }

  /** The best of each of the agent's memories, then the second of each, and so on; what does not fit is left off. */
  async recall(call: AgentCall, { text = '', tag, limit = DEFAULT_RECALLED, memory }: MemoryQuery) {
    const most = Math.max(1, Math.min(Math.floor(limit), MAX_RECALLED));
    const found: { readonly place: number; readonly entry: Recollection }[] = [];
    for (const name of await this.#memoriesOf(call, memory)) {
      const ref = refOf(name, call);
      const options = { limit: most, tag };
      const entries =
        text.trim() === ''
          ? await this.#world.memory.list(call, ref, options)
          : await this.#world.memory.search(call, ref, text, options);
      found.push(...entries.map((entry, place) => ({ place, entry: { ...entry, memory: name } })));
    }
    const best = found.sort((a, b) => a.place - b.place).slice(0, most);
    return fitting(best.map(({ entry }) => entry));
  }

  /** Whether it was there; the agent sees it until its turn is over. */
  async forget(call: AgentCall, id: string): Promise<boolean> {
    for (const name of await this.#memoriesOf(call)) {
      if (await this.#world.memory.delete(call, refOf(name, call), id)) return true;
    }
    return false;
  }

  /** At least one. */
  async #memoriesOf(call: AgentCall, wanted?: MemoryName | undefined): Promise<readonly MemoryName[]> {
    const shape = await this.#shapeOf(call.runId, call.agentId);
    const has = names.filter((name) => shape?.[shapeKeys[name]] === true);
    const chosen = wanted === undefined ? has : has.filter((name) => name === wanted);
    if (chosen.length > 0) return chosen;
    throw new TerminalError('validation_error', {
      message: `The agent ${quoted(call.agentId, 260)} has no ${wanted === undefined ? '' : `${wanted} `}memory.`,
      hint: has.length === 0 ? 'Set memoryShape in its manifest.' : `It has ${has.join(', ')}.`,
    });
  }

  /** As the run was pinned to the agent, whatever became of its pack. */
  async #shapeOf(runId: RunId, agentId: string): Promise<MemoryShape> {
    const { log, shelf } = this.#world;
    const [first] = await log.read({ runId, after: -1, limit: 1 });
    const { agents = {} } = JSON.parse(first?.payload ?? '{}') as { readonly agents?: Record<string, AgentPin> };
    const pin = Object.hasOwn(agents, agentId) ? agents[agentId] : undefined;
    if (pin === undefined) return undefined;
    const { manifest } = (await shelf.definition(pin.hash)) as JsonObject & { readonly manifest?: Json };
    return (manifest as unknown as AgentManifest | undefined)?.memoryShape;
  }
}

/** No agent can have a name that begins like the two others. */
function refOf(name: MemoryName, { agentId, runId, contextId }: AgentCall): string {
  if (name === 'long-term') return longTermRef(agentId);
  return name === 'conversation' ? `context:${contextId}` : `run:${runId}`;
}

function fitting(found: readonly Recollection[]): readonly Recollection[] {
  let length = 0;
  return found.filter(({ content }) => {
    length += content.length;
    return length <= MAX_RECALLED_LENGTH;
  });
}
