/** The agents of a run: found when it starts, recorded with it, and from then on the same whatever becomes of their packs. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { AgentShelf } from './ports.ts';
import type { AgentPin } from './state.ts';
import type { Workflow } from './workflow.ts';

export type Pins = Readonly<Record<string, AgentPin>>;

export interface AgentPins {
  /** What a new run of the workflow is pinned to; null when none of its nodes acts as an agent. */
  find(tenant: string, workflow: Workflow): Promise<Pins | null>;
  /** The workflow as a run with these pins has it. */
  give(workflow: Workflow, pins: Pins): Promise<Workflow>;
}

export function createAgentPins(shelf: AgentShelf | null): AgentPins {
  return {
    async find(tenant, workflow) {
      const agentIds = actingAgents(workflow);
      if (agentIds.length === 0) return null;
      if (shelf === null) throw noAgents(workflow, agentIds[0] as string);
      return shelf.pin(tenant, agentIds);
    },
    async give(workflow, pins) {
      const agents = new Map<string, JsonObject>();
      for (const [agentId, { hash }] of Object.entries(pins)) {
        if (shelf === null) throw noAgents(workflow, agentId);
        agents.set(agentId, await shelf.definition(hash));
      }
      return agents.size === 0 ? workflow : { ...workflow, agents };
    },
  };
}

function actingAgents({ nodes }: Workflow): readonly string[] {
  const agentIds = new Set<string>();
  for (const { node, type } of nodes.values()) {
    if (type.actsAsAgent === true && node.agent !== undefined && node.disabled !== true)
      agentIds.add(node.agent.agentId);
  }
  return [...agentIds];
}

const noAgents = (workflow: Workflow, agentId: string): TerminalError =>
  new TerminalError('capability_required', {
    message: `The workflow ${workflow.definition.id} needs the agent ${agentId}, and this host runs no agents.`,
    hint: 'Run it on a host that does.',
    details: { workflowId: workflow.definition.id, agentId, requiredCapability: 'agents' },
  });
