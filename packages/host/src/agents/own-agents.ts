/** Registry entries of agents defined in the host's code. They have no pack, so the host takes its place. */
import { type AgentInventoryEntry, type AgentRef, agentRefOf, type Discovery, TerminalError } from '@cairn/protocol';
import type { DefinedAgent } from './define-agent.ts';
import { inventoryEntry } from './inventory.ts';
import { type StoredAgent, storedAgent } from './packs/pack-agents.ts';

/** The pack name of these agents. No real pack can have it. */
export const OWN_PACK = 'host';

export interface OwnAgent {
  readonly agentId: string;
  readonly agent: DefinedAgent;
  readonly version: string;
  readonly definition: StoredAgent;
  readonly ref: AgentRef;
}

/** `version` is the host's. Throws for duplicate ids. */
export function ownAgents(agents: readonly DefinedAgent[], version: string): readonly OwnAgent[] {
  const own = new Map<string, OwnAgent>();
  for (const agent of agents) {
    const { agentId } = agent;
    if (own.has(agentId)) throw definedTwice(agentId);
    const definition = storedAgent({ packName: OWN_PACK, packVersion: version, ...agent.definition });
    // The agent has no source manifest, so the reference names none.
    const { sourceManifestId: _, ...ref } = agentRefOf(agent.definition.manifest, version);
    own.set(agentId, { agentId, agent, version, definition, ref });
  }
  return [...own.values()];
}

/** The schemas are not files, so the manifest has no references to derive `hasHandoffSchemas` from. */
export function ownEntry({ agent, version }: OwnAgent, discovery: Discovery): AgentInventoryEntry {
  const { manifest, taskSchema, returnSchema } = agent.definition;
  const entry = inventoryEntry(manifest, { name: OWN_PACK, version }, discovery);
  return { ...entry, hasHandoffSchemas: taskSchema !== undefined || returnSchema !== undefined };
}

const definedTwice = (agentId: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `Two agents are called ${agentId}.`,
    hint: 'Give each agent of defineAgent an id of its own.',
    details: { agentId },
  });
