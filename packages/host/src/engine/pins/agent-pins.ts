/** The agents of a run. The run pins them when it starts, and later changes to their packs do not affect it. */
import { isCairnError, quoted, TerminalError } from '@cairn/protocol';
import type { AgentDefinition, AgentPin, AgentSource } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { Agents } from './pinned.ts';

type Pins = Readonly<Record<string, AgentPin>>;

export interface AgentPins {
  /**
   * Finds the pins for a new run of the workflow: the agents that its nodes act as, which must exist, and those that
   * they only name. Null when there are none.
   */
  find(tenant: string, workflow: Workflow): Promise<Pins | null>;
  definitions(workflow: Workflow, pins: Pins): Promise<Agents>;
}

export function createAgentPins(agentSource: AgentSource | null): AgentPins {
  return {
    async find(tenant, workflow) {
      const acting = actingAgents(workflow);
      const mentioned = mentionedAgents(workflow, acting);
      const [first] = acting.keys();
      if (first === undefined && (mentioned.length === 0 || agentSource === null)) return null;
      if (agentSource === null) throw noAgents(workflow, String(first));
      try {
        const pins = await agentSource.pin(tenant, [...acting.keys()], mentioned);
        refuseOtherVersions(workflow, pins);
        return Object.keys(pins).length === 0 ? null : pins;
      } catch (error) {
        throw namingNode(error, workflow, acting);
      }
    },
    async definitions(workflow, pins) {
      const agents = new Map<string, AgentDefinition>();
      for (const [agentId, { hash }] of Object.entries(pins)) {
        if (agentSource === null) throw noAgents(workflow, agentId);
        agents.set(agentId, await agentSource.definition(hash));
      }
      return agents;
    },
  };
}

/** The agents of the workflow's nodes, each with the first node that acts as it. */
function actingAgents({ nodes }: Workflow): ReadonlyMap<string, string> {
  const acting = new Map<string, string>();
  for (const compiled of nodes.values()) {
    const { node, type } = compiled;
    if (type.actsAsAgent?.(compiled) !== true || node.agent === undefined || node.disabled === true) continue;
    if (!acting.has(node.agent.agentId)) acting.set(node.agent.agentId, node.id);
  }
  return acting;
}

/** The agents that nodes name without acting as them. Their refs on the wire are the registry's, where it has them. */
function mentionedAgents({ nodes }: Workflow, acting: ReadonlyMap<string, string>): readonly string[] {
  const mentioned = new Set<string>();
  for (const { node, type, config } of nodes.values()) {
    if (node.disabled === true) continue;
    const named = [node.agent?.agentId, node.agent?.sourceManifestId, ...(type.otherAgents?.(config) ?? [])];
    for (const agentId of named) if (agentId !== undefined && !acting.has(agentId)) mentioned.add(agentId);
  }
  return [...mentioned];
}

/** The agents that the nodes of the workflow act as, or mention. */
export function namedAgents(workflow: Workflow): ReadonlySet<string> {
  const acting = actingAgents(workflow);
  return new Set([...acting.keys(), ...mentionedAgents(workflow, acting)]);
}

/** Throws when a node names another version of its agent than the pinned one. No version is substituted. */
function refuseOtherVersions({ nodes }: Workflow, pins: Pins): void {
  for (const compiled of nodes.values()) {
    const { node, type } = compiled;
    if (type.actsAsAgent?.(compiled) !== true || node.agent?.version === undefined || node.disabled === true) continue;
    const { agentId, version } = node.agent;
    const found = pins[agentId]?.ref.version;
    if (found === version) continue;
    throw new TerminalError('not_found', {
      message: `There is no agent ${agentId} in version ${quoted(version, 70)}; here it is in version ${found}.`,
      hint: 'Install that version, or leave the version of the node out.',
      details: { agentId, version, nodeId: node.id },
    });
  }
}

/** Adds the node to a `not_found` error. The agent source knows only the agent; the workflow knows the node. */
function namingNode(error: unknown, { definition }: Workflow, acting: ReadonlyMap<string, string>): unknown {
  if (!isCairnError(error, 'not_found')) return error;
  const nodeId = error.details?.nodeId ?? acting.get(String(error.details?.agentId));
  if (nodeId === undefined) return error;
  return new TerminalError('not_found', {
    message: `${error.message} Node ${nodeId} of the workflow ${definition.id} acts as it.`,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, workflowId: definition.id, nodeId },
    cause: error,
  });
}

const noAgents = (workflow: Workflow, agentId: string): TerminalError =>
  new TerminalError('capability_required', {
    message: `The workflow ${workflow.definition.id} needs the agent ${agentId}, and this host runs no agents.`,
    hint: 'Run it on a host that does.',
    details: { workflowId: workflow.definition.id, agentId, requiredCapability: 'agents' },
  });
