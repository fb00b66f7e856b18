/** Which memories an agent has, by what its manifest says, and what it does with them through its tools. */
import {
  type AgentManifest,
  foldEventOf,
  invariant,
  type PayloadOf,
  quoted,
  type RunId,
  TerminalError,
} from '@cairn/protocol';
import { type MemoryScope, memoryScopeOf } from '../../engine/family/memory-scope.ts';
import type { AgentSource } from '../../engine/ports.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { MemoryName, MemoryPort, MemoryQuery, RememberRequest } from '../tools/memory-tools.ts';
import type { HostToolContext } from '../tools/tool.ts';
import type { Memory, MemoryCall, MemoryEntry } from './memory.ts';
import { longTermRef } from './memory-refs.ts';

/** From the one that lasts longest to the one that ends with the run. */
const names: readonly MemoryName[] = ['long-term', 'conversation', 'scratchpad'];

type MemoryShape = AgentManifest['memoryShape'];

const shapeKeys = { 'long-term': 'longTerm', conversation: 'conversation', scratchpad: 'scratchpad' } as const;

export interface Recollection extends MemoryEntry {
  /** Which of the agent's memories it is in. */
  readonly in: MemoryName;
}

/** One of an agent's memories, and what it is called where it is kept. */
interface OwnMemory {
  readonly name: MemoryName;
  readonly ref: string;
}

type AgentCall = MemoryCall & Pick<HostToolContext, 'contextId'>;

export interface AgentMemoryPorts {
  readonly memory: Memory;
  readonly log: Pick<EventLog, 'read'>;
  readonly agentSource: Pick<AgentSource, 'definition'>;
}

const DEFAULT_RECALLED = 10;
const MAX_RECALLED = 50;
/** All that one recall gives, in characters: it becomes a part of an event and of a prompt. */
const MAX_RECALLED_LENGTH = 64_000;

export class AgentMemory implements MemoryPort {
  readonly #ports: AgentMemoryPorts;

  constructor(ports: AgentMemoryPorts) {
    this.#ports = ports;
  }

  /** Keeps it in the memory that was named, or in the one of the agent's that lasts longest. */
  async remember(call: AgentCall, { in: wanted, ...entry }: RememberRequest): Promise<Recollection> {
    const [{ name, ref }] = await this.#memoriesOf(call, wanted);
    return { ...(await this.#ports.memory.put(call, ref, entry)), in: name };
  }

  /** The best of each of the agent's memories, then the second of each, and so on; what does not fit is left off. */
  async recall(call: AgentCall, { text = '', tag, limit = DEFAULT_RECALLED, in: wanted }: MemoryQuery) {
    const most = Math.max(1, Math.min(Math.floor(limit), MAX_RECALLED));
    const found: { readonly place: number; readonly entry: Recollection }[] = [];
    for (const { name, ref } of await this.#memoriesOf(call, wanted)) {
      const options = { limit: most, tag };
      const entries =
        text.trim() === ''
          ? await this.#ports.memory.list(call, ref, options)
          : await this.#ports.memory.search(call, ref, text, options);
      found.push(...entries.map((entry, place) => ({ place, entry: { ...entry, in: name } })));
    }
    const best = found.sort((a, b) => a.place - b.place).slice(0, most);
    return fitting(best.map(({ entry }) => entry));
  }

  /** Whether it was there; the agent sees it until its turn is over. */
  async forget(call: AgentCall, { id, in: wanted }: Parameters<MemoryPort['forget']>[1]): Promise<boolean> {
    for (const { ref } of await this.#memoriesOf(call, wanted)) {
      if (await this.#ports.memory.delete(call, ref, id)) return true;
    }
    return false;
  }

  /** The one that was named, or all that the agent has. */
  async #memoriesOf(call: AgentCall, wanted: MemoryName | undefined): Promise<readonly [OwnMemory, ...OwnMemory[]]> {
    const started = await this.#startOf(call.runId);
    const shape = await this.#shapeOf(started, call.agentId);
    const has = names.filter((name) => shape?.[shapeKeys[name]] === true);
    const chosen = wanted === undefined ? has : has.filter((name) => name === wanted);
    const scope = memoryScopeOf(call.runId, started.memoryScope);
    const [first, ...others] = chosen.map((name) => ({ name, ref: refOf(name, call, scope) }));
    if (first !== undefined) return [first, ...others];
    throw new TerminalError('validation_error', {
      message: `The agent ${quoted(call.agentId, 260)} has no ${wanted === undefined ? '' : `${wanted} `}memory.`,
      hint: has.length === 0 ? 'Set memoryShape in its manifest.' : `It has ${has.join(', ')}.`,
    });
  }

  /** What the run began with, by its first row. */
  async #startOf(runId: RunId): Promise<PayloadOf<'run.started'>> {
    const [first] = await this.#ports.log.read({ runId, after: -1, limit: 1 });
    const event = first === undefined ? undefined : foldEventOf(first);
    invariant(event?.type === 'run.started', 'run-begins-with-its-start', { runId });
    return event.payload;
  }

  /** As the run was pinned to the agent, whatever became of its pack. */
  async #shapeOf({ agents = {} }: PayloadOf<'run.started'>, agentId: string): Promise<MemoryShape> {
    const pin = Object.hasOwn(agents, agentId) ? agents[agentId] : undefined;
    if (pin === undefined) return undefined;
    const { manifest } = await this.#ports.agentSource.definition(pin.hash);
    return manifest.memoryShape;
  }
}

/** No agent can have a name that begins like the others. Runs that were started apart have no part in the conversation around them. */
function refOf(name: MemoryName, { agentId, contextId }: AgentCall, scope: MemoryScope): string {
  if (name === 'long-term') return longTermRef(agentId);
  if (name === 'scratchpad') return `run:${scope.runId}`;
  return scope.isolated ? `apart:${scope.runId}` : `context:${contextId}`;
}

function fitting(found: readonly Recollection[]): readonly Recollection[] {
  let length = 0;
  return found.filter(({ content }) => {
    length += content.length;
    return length <= MAX_RECALLED_LENGTH;
  });
}
