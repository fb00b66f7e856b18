/** The memories that an agent's manifest declares, and the operations of its memory tools on them. */
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
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { MemoryName, MemoryPort, MemoryQuery, RememberRequest } from '../builtin-tools/memory-tools.ts';
import type { HostToolContext } from '../tools/tool.ts';
import type { Memory, MemoryCall, MemoryEntry } from './memory.ts';
import { longTermRef } from './memory-refs.ts';

/** Ordered by lifetime, longest first; the scratchpad ends with the run. */
const names: readonly MemoryName[] = ['long-term', 'conversation', 'scratchpad'];

type MemoryShape = AgentManifest['memoryShape'];

const shapeKeys = { 'long-term': 'longTerm', conversation: 'conversation', scratchpad: 'scratchpad' } as const;

export interface Recollection extends MemoryEntry {
  /** The memory that holds the entry. */
  readonly in: MemoryName;
}

/** A memory of an agent, with its reference in the store. */
interface OwnMemory {
  readonly name: MemoryName;
  readonly ref: string;
  /** For a fork: the same memory of the runs that it was forked from. It sees them as they were at the cut. */
  readonly inherited: readonly string[];
}

/** A run that a memory may belong to. */
interface Owner {
  readonly contextId: string;
  readonly scope: MemoryScope;
}

type AgentCall = MemoryCall & Pick<HostToolContext, 'contextId'>;

export interface AgentMemoryPorts {
  readonly memory: Memory;
  readonly log: Pick<EventLog, 'read' | 'head'>;
  readonly agentSource: Pick<AgentSource, 'definition'>;
}

/** Forks of forks whose memories are read: each costs a query. */
const MAX_SOURCES = 16;

const DEFAULT_RECALLED = 10;
const MAX_RECALLED = 50;
/** Most characters in one recall: they become part of an event and of a prompt. */
const MAX_RECALLED_LENGTH = 64_000;

export class AgentMemory implements MemoryPort {
  readonly #ports: AgentMemoryPorts;

  constructor(ports: AgentMemoryPorts) {
    this.#ports = ports;
  }

  /** Writes to the named memory, or to the agent's longest-lived one. */
  async remember(call: AgentCall, { in: wanted, ...entry }: RememberRequest): Promise<Recollection> {
    const [{ name, ref }] = await this.#memoriesOf(call, wanted);
    return { ...(await this.#ports.memory.put(call, ref, entry)), in: name };
  }

  /**
   * Interleaves the memories by rank: the best entry of each, then the second of each. Entries that do not fit are left
   * out.
   */
  async recall(call: AgentCall, { text = '', tag, limit = DEFAULT_RECALLED, in: wanted }: MemoryQuery) {
    const most = Math.max(1, Math.min(Math.floor(limit), MAX_RECALLED));
    const found: { readonly place: number; readonly entry: Recollection }[] = [];
    for (const { name, ref, inherited } of await this.#memoriesOf(call, wanted)) {
      const options = { limit: most, tag };
      for (const one of [ref, ...inherited]) {
        const entries =
          text.trim() === ''
            ? await this.#ports.memory.list(call, one, options)
            : await this.#ports.memory.search(call, one, text, options);
        found.push(...entries.map((entry, place) => ({ place, entry: { ...entry, in: name } })));
      }
    }
    const best = found.sort((a, b) => a.place - b.place).slice(0, most);
    return fitting(best.map(({ entry }) => entry));
  }

  /** Returns whether the entry existed. The agent still sees it until its turn ends. */
  async forget(call: AgentCall, { id, in: wanted }: Parameters<MemoryPort['forget']>[1]): Promise<boolean> {
    for (const { name, ref, inherited } of await this.#memoriesOf(call, wanted)) {
      // Later runs of the source's context read its conversation too, so that a fork drops nothing there.
      for (const one of [ref, ...(name === 'scratchpad' ? inherited : [])])
        if (await this.#ports.memory.delete(call, one, id)) return true;
    }
    return false;
  }

  /** The named memory, or all memories of the agent. */
  async #memoriesOf(call: AgentCall, wanted: MemoryName | undefined): Promise<readonly [OwnMemory, ...OwnMemory[]]> {
    const started = await this.#startOf(call.runId);
    const shape = await this.#shapeOf(started, call.agentId);
    const has = names.filter((name) => shape?.[shapeKeys[name]] === true);
    const chosen = wanted === undefined ? has : has.filter((name) => name === wanted);
    const [own, ...sources] = await this.#forkedFrom(call, started.memoryScope);
    const [first, ...others] = chosen.map((name): OwnMemory => {
      const inherited = name === 'long-term' ? [] : sources.map((source) => refOf(name, call.agentId, source));
      return { name, ref: refOf(name, call.agentId, own), inherited };
    });
    if (first !== undefined) return [first, ...others];
    throw new TerminalError('validation_error', {
      message: `The agent ${quoted(call.agentId, 260)} has no ${wanted === undefined ? '' : `${wanted} `}memory.`,
      hint: has.length === 0 ? 'Set memoryShape in its manifest.' : `It has ${has.join(', ')}.`,
    });
  }

  /** The run, and for a fork the runs that it was forked from, nearest first. */
  async #forkedFrom({ runId, contextId }: AgentCall, recorded: MemoryScope | undefined): Promise<[Owner, ...Owner[]]> {
    const head = await this.#ports.log.head(runId);
    const originRunId = head?.record.originRunId ?? runId;
    const found: [Owner, ...Owner[]] = [{ contextId, scope: memoryScopeOf({ runId, originRunId }, recorded) }];
    for (let fork = head?.record.fork ?? null; fork !== null && found.length <= MAX_SOURCES; ) {
      const source: RunHead | null = await this.#ports.log.head(fork.sourceRunId);
      if (source === null) break;
      const { runId: id, contextId: context } = source.record;
      found.push({ contextId: context, scope: memoryScopeOf({ runId: id, originRunId }, recorded) });
      fork = source.record.fork;
    }
    return found;
  }

  /** The payload of the run's first row. */
  async #startOf(runId: RunId): Promise<PayloadOf<'run.started'>> {
    const [first] = await this.#ports.log.read({ runId, after: -1, limit: 1 });
    const event = first === undefined ? undefined : foldEventOf(first);
    invariant(event?.type === 'run.started', 'run-begins-with-its-start', { runId });
    return event.payload;
  }

  /** The shape in the pinned definition, even if the pack has changed or is gone. */
  async #shapeOf({ agents = {} }: PayloadOf<'run.started'>, agentId: string): Promise<MemoryShape> {
    const pin = Object.hasOwn(agents, agentId) ? agents[agentId] : undefined;
    if (pin === undefined) return undefined;
    const { manifest } = await this.#ports.agentSource.definition(pin.hash);
    return manifest.memoryShape;
  }
}

/** The prefixes cannot collide with an agent id. An isolated run does not share the conversation of its context. */
function refOf(name: MemoryName, agentId: string, { contextId, scope }: Owner): string {
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
