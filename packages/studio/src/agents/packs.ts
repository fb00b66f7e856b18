/** Agents by the pack that brought them. Agents in code have a pack of the host that is not installed. */
import type { AgentInventoryEntry, InstalledPack } from '@cairn/protocol';

export interface PackGroup {
  readonly name: string;
  readonly version: string;
  /** Null for agents in code, or if the key may not see packs. */
  readonly pack: InstalledPack | null;
  readonly agents: readonly AgentInventoryEntry[];
}

/** In the order of the names. */
export function groupsOf(
  agents: readonly AgentInventoryEntry[],
  packs: readonly InstalledPack[],
): readonly PackGroup[] {
  const groups = new Map<string, AgentInventoryEntry[]>();
  for (const agent of agents) groups.set(agent.packName, [...(groups.get(agent.packName) ?? []), agent]);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ofPack]) => ({
      name,
      version: ofPack[0]?.packVersion ?? '',
      pack: packs.find((pack) => pack.name === name) ?? null,
      agents: ofPack,
    }));
}
