/**
 * Builds the public inventory entry of an agent: selected manifest fields, and requirements that this host does not
 * meet.
 */
import type { AgentInventoryEntry, AgentManifest, Discovery, MemoryDimension, PackManifest } from '@cairn/protocol';
import { hasCapability } from './packs/capabilities.ts';
import { unmetPeers } from './packs/requirements.ts';

/** The pack of an agent. */
type Pack = Pick<PackManifest, 'name' | 'version' | 'peerDependencies'>;

/** Lists fields one by one, so that new manifest fields stay private until they are added here. */
export function inventoryEntry(agent: AgentManifest, pack: Pack, discovery: Discovery): AgentInventoryEntry {
  const { agentId, persona, label = persona, description, modelClass, toolAllowlist = [], handoff, confidence } = agent;
  const degraded = degradedOf(agent, pack, discovery);
  const dimensions = missingMemory(agent, discovery);
  return {
    agentId,
    persona,
    label,
    ...(description === undefined ? {} : { description }),
    modelClass,
    packName: pack.name,
    packVersion: pack.version,
    toolAllowlist,
    hasHandoffSchemas: handoff?.taskSchemaRef !== undefined || handoff?.returnSchemaRef !== undefined,
    ...(agent.memoryShape === undefined ? {} : { memoryShape: agent.memoryShape }),
    ...(confidence?.defaultThreshold === undefined ? {} : { confidenceThreshold: confidence.defaultThreshold }),
    ...(degraded.length === 0 ? {} : { degraded: [...degraded] }),
    ...(dimensions.length === 0 ? {} : { memoryDegraded: true, degradedMemoryDimensions: [...dimensions] }),
  };
}

/** Evaluated against the current host, whose capabilities may have changed since the installation. */
function degradedOf(agent: AgentManifest, pack: Pack, discovery: Discovery): readonly string[] {
  const needs = (agent.requiresCapabilities ?? []).filter((key) => !hasCapability(discovery, key));
  return [...new Set([...unmetPeers(pack, discovery), ...needs])].sort();
}

function missingMemory({ memoryShape = {} }: AgentManifest, discovery: Discovery): readonly MemoryDimension[] {
  const { scratchpad, conversation, longTerm } = memoryShape;
  const isShort = (scratchpad === true || conversation === true) && !hasCapability(discovery, 'memory');
  const isLong = longTerm === true && !hasCapability(discovery, 'agents.memoryBackends', 'long-term');
  return [...(isShort ? (['read', 'write'] as const) : []), ...(isLong ? (['long-term-durability'] as const) : [])];
}
