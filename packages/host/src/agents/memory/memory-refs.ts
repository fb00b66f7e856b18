/** Adds the reference of long-term memory to agents, so that it appears wherever a run names them. */
import type { AgentPin, AgentSource } from '../../engine/ports.ts';

/** One per agent and tenant: shared by all runs of a tenant, and separate between tenants. */
export const longTermRef = (agentId: string): string => agentId;

/** Wraps a source so that pins of agents with long-term memory carry its reference. */
export const withMemoryRefs = (agentSource: AgentSource): AgentSource => ({
  async pin(tenant, ...agentIds) {
    const pins = await agentSource.pin(tenant, ...agentIds);
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
