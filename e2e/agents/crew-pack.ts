/** The shipped research crew, with counting tools added to its tool lists. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly agents: readonly { readonly agentId: string; readonly toolAllowlist?: readonly string[] }[];
}

export const shippedPacks = join(import.meta.dirname, '../../packs');

/** Writes the pack to a new folder. */
export function countingCrew(folder: string): void {
  cpSync(join(shippedPacks, 'research-crew'), folder, { recursive: true });
  const file = join(folder, 'pack.json');
  const manifest: Manifest = JSON.parse(readFileSync(file, 'utf8'));
  const agents = manifest.agents.map((agent) =>
    agent.agentId.endsWith('.planner')
      ? agent
      : { ...agent, toolAllowlist: [...(agent.toolAllowlist ?? []), 'desk:*'] },
  );
  writeFileSync(file, JSON.stringify({ ...manifest, agents }));
}
