/** A run of one agent is a run of a workflow with one node; this is that workflow. */
import type { JsonObject, PortValue, WorkflowDefinition } from '@cairn/protocol';

/** Longest id of a workflow. */
const MAX_ID = 128;

/**
 * What the run is given becomes what the node is given, by the same names. The agent is named as a node of any other
 * workflow would name it, so that nothing can behave differently.
 */
export function agentRun(agentId: string, inputs: JsonObject): WorkflowDefinition {
  const ports = Object.keys(inputs)
    .sort()
    .map((name): [string, PortValue] => [name, { type: 'variable', variableName: name }]);
  return {
    id: `agent-run-${agentId.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')}`.slice(0, MAX_ID),
    name: `Agent ${agentId}`,
    version: '1',
    nodes: [
      {
        id: 'agent',
        typeId: 'cairn.agent',
        name: agentId,
        position: { x: 0, y: 0 },
        config: {},
        inputs: Object.fromEntries(ports),
        agent: { agentId },
      },
    ],
    edges: [],
    triggers: [],
    variables: [],
    metadata: { source: 'run-api' },
    settings: {},
  };
}
