/** Builds the one-node workflow that runs a single agent. */
import type { JsonObject, PortValue, WorkflowDefinition } from '@cairn/protocol';

/** Maximum length of a workflow id. */
const MAX_ID = 128;

/**
 * Passes each input of the run to the node under the same name. The node references the agent like a node of any
 * workflow, so both behave the same.
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
