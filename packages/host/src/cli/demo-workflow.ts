/** The workflow that `cairn dev` registers, so that the first request has something to run. */
import type { WorkflowDefinition } from '@cairn/protocol';

/** Greets, after half a second, whom its input `name` names. */
export const demoWorkflow: WorkflowDefinition = {
  id: 'hello',
  name: 'Hello',
  version: '1',
  description: 'Waits half a second, then greets.',
  nodes: [
    { id: 'wait', typeId: 'core.delay', name: 'Wait', position: { x: 0, y: 0 }, config: { delayMs: 500 }, inputs: {} },
    {
      id: 'greet',
      typeId: 'core.setVariable',
      name: 'Greet',
      position: { x: 240, y: 0 },
      config: { name: 'greeting', expression: '"Hello, " + variables.name + "!"' },
      inputs: {},
    },
  ],
  edges: [{ id: 'wait-greet', sourceNodeId: 'wait', targetNodeId: 'greet' }],
  triggers: [{ id: 'manual', type: 'manual' }],
  variables: [
    { name: 'name', type: 'string', defaultValue: 'world' },
    { name: 'greeting', type: 'string', defaultValue: '' },
  ],
  metadata: {},
  settings: {},
};
