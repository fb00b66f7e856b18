/** Builds the one-node workflow that runs a single agent. */
import type { Json, JsonObject, PortValue, WorkflowDefinition, WorkflowVariable } from '@cairn/protocol';

/** Maximum length of a workflow id. */
const MAX_ID = 128;

/** How the ids of these workflows begin. */
export const AGENT_RUN = 'agent-run-';

/**
 * Passes each input of the run to the node under the same name. The node references the agent like a node of any
 * workflow, so both behave the same. `clientTools` is a setting of that node.
 */
export function agentRun(agentId: string, inputs: JsonObject, clientTools?: JsonObject): WorkflowDefinition {
  const ports = Object.keys(inputs)
    .sort()
    .map((name): [string, PortValue] => [name, { type: 'variable', variableName: name }]);
  return {
    id: `${AGENT_RUN}${agentId.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')}`.slice(0, MAX_ID),
    name: `Agent ${agentId}`,
    version: '1',
    nodes: [
      {
        id: 'agent',
        typeId: 'cairn.agent',
        name: agentId,
        position: { x: 0, y: 0 },
        config: clientTools === undefined ? {} : { clientTools },
        inputs: Object.fromEntries(ports),
        agent: { agentId },
      },
    ],
    edges: [],
    triggers: [],
    variables: Object.keys(inputs)
      .sort()
      .map((name) => ({ name, type: typeOf(inputs[name]) })),
    metadata: { source: 'run-api' },
    settings: {},
  };
}

/** A null input fits every type. */
function typeOf(value: Json | undefined): WorkflowVariable['type'] {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}
