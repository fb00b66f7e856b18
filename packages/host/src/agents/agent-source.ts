/** Resolves agents for runs: by name when a run starts, then by the content hash it was pinned to. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { AgentDefinition, AgentPin, AgentSource } from '../engine/ports.ts';
import type { Definitions } from '../log/ports/definitions.ts';
import { SharedLruMap } from '../shared-lru-map.ts';
import { readAgentDefinition } from './agent-definition.ts';
import type { AgentRegistry } from './registry.ts';

/** The characters of all definitions cached in memory. */
const MAX_CACHED_CHARACTERS = 16_777_216;

interface Kept {
  readonly definition: AgentDefinition;
  /** Of the text it was read from. */
  readonly length: number;
}

export function createAgentSource(
  registry: Pick<AgentRegistry, 'handoffGroups'>,
  definitions: Pick<Definitions, 'get'>,
): AgentSource {
  const kept = new SharedLruMap<string, Kept>({ capacity: MAX_CACHED_CHARACTERS, weigh: ({ length }) => length });
  /** Hundreds of runs that start at once read each definition once. */
  const reading = new Map<string, Promise<AgentDefinition>>();
  const read = async (hash: string): Promise<AgentDefinition> => {
    const body = await definitions.get(hash);
    if (body === null) throw lostDefinition(hash);
    const definition = readAgentDefinition(hash, body);
    return kept.set(hash, { definition, length: body.length }, definition.manifest.agentId).definition;
  };
  return {
    async pin(tenant, agentIds, mentioned = []) {
      const handoffGroups = await registry.handoffGroups(tenant, [...agentIds, ...mentioned]);
      const pins: Record<string, AgentPin> = {};
      for (const { agentId, hash, ref } of handoffGroups.flat()) {
        if (mentioned.includes(agentId)) pins[agentId] = { hash, ref };
      }
      for (const wanted of agentIds) {
        const group = handoffGroups.find((agents) => agents.some(({ agentId }) => agentId === wanted));
        if (group === undefined) throw unknownAgent(wanted);
        for (const { agentId, hash, ref } of group) pins[agentId] = { hash, ref };
      }
      return pins;
    },
    async definition(hash) {
      const known = kept.get(hash);
      if (known !== undefined) return known.definition;
      const found = reading.get(hash) ?? read(hash).finally(() => reading.delete(hash));
      reading.set(hash, found);
      return found;
    },
  };
}

/** The error is the same for an agent of another tenant and for one that does not exist. */
const unknownAgent = (agentId: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no agent ${quoted(agentId, 260)}.`,
    hint: 'GET /v1/agents lists those of the tenant; "cairn pack add" installs more.',
    details: { agentId },
  });

const lostDefinition = (hash: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The agent with the definition ${hash} is not in the store.`,
    hint: 'Install its pack again in the same version; definitions are stored by their content.',
    details: { definitionHash: hash },
  });
