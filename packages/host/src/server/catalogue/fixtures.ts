/** Which of the host's workflows the discovery document lists as fixtures. */
import type { AgentRegistry } from '../../agents/registry.ts';
import type { FoundWorkflow } from './workflow-folders.ts';

/** A tenant that installs nothing, so it sees what the host itself has. */
const NOBODY = '';

/** The workflows that name no pack and no agent in their metadata, or one that the host has. */
export async function runnableFixtures(
  workflows: readonly FoundWorkflow[],
  registry: Pick<AgentRegistry, 'packs' | 'agents'>,
): Promise<readonly string[]> {
  const packs = new Set((await registry.packs(NOBODY)).map(({ name }) => name));
  const agents = new Set((await registry.agents(NOBODY)).map(({ agentId }) => agentId));
  const has = (names: ReadonlySet<string>, wanted: unknown) => typeof wanted !== 'string' || names.has(wanted);
  return workflows
    .map(({ definition }) => definition)
    .filter(({ metadata }) => has(packs, metadata?.requiresInstalledPack) && has(agents, metadata?.requiresAgentId))
    .map(({ id }) => id);
}
