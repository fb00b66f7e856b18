/** How the memory that lasts is called on the wire: agents that have one carry its name wherever a run tells of them. */
import type { AgentPin, AgentSource } from '../../engine/ports.ts';

/** The agent's own: the same in every run of a tenant, and another one's for every other tenant. */
export const longTermRef = (agentId: string): string => agentId;

/** The same source; agents whose manifest gives them long-term memory are pinned with its name. */
export const withMemoryRefs = (agentSource: AgentSource): AgentSource => ({
  async pin(tenant, agentIds) {
    const pins = await agentSource.pin(tenant, agentIds);
    const named: Record<string, AgentPin> = {};
    for (const [agentId, pin] of Object.entries(pins)) {
      const { manifest } = await agentSource.definition(pin.hash);
      named[agentId] =
        manifest.memoryShape?.longTerm === true
          ? { ...pin, ref: { ...pin.ref, memoryRef: longTermRef(agentId) } }
          : pin;
    }
    return named;
  },
  definition: (hash) => agentSource.definition(hash),
});
