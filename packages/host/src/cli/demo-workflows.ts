/** The sample workflows that `cairn dev` registers. */
import type { JsonObject, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';

const node = (id: string, name: string, typeId: string, x: number, config: JsonObject): WorkflowNode => ({
  id,
  typeId,
  name,
  position: { x, y: 0 },
  config,
  inputs: {},
});

/** Waits half a second, then greets the input `name`. */
const hello: WorkflowDefinition = {
  id: 'hello',
  name: 'Hello',
  version: '1',
  description: 'Waits half a second, then greets.',
  nodes: [
    node('wait', 'Wait', 'core.delay', 0, { delayMs: 500 }),
    node('greet', 'Greet', 'core.setVariable', 240, {
      name: 'greeting',
      expression: '"Hello, " + variables.name + "!"',
    }),
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

/** Asks a person whether a text may be published. */
const review: WorkflowDefinition = {
  id: 'review',
  name: 'Review',
  version: '1',
  description: 'Asks a person before it publishes.',
  nodes: [
    node('approve', 'Approve', 'core.approvalGate', 0, {
      title: 'Publish the text?',
      actions: ['accept', 'reject'],
    }),
    node('publish', 'Publish', 'core.setVariable', 240, { name: 'published', expression: 'variables.text' }),
  ],
  edges: [{ id: 'approve-publish', sourceNodeId: 'approve', targetNodeId: 'publish' }],
  triggers: [{ id: 'manual', type: 'manual' }],
  variables: [
    { name: 'text', type: 'string', defaultValue: 'A cairn marks the trail.' },
    { name: 'published', type: 'string', defaultValue: '' },
  ],
  metadata: {},
  settings: {},
};

export const demoWorkflows: readonly WorkflowDefinition[] = [hello, review];
