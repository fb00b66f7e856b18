/** Small workflows for tests of the HTTP surface. */
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';

/** A definition with these nodes in sequence. */
export function chain(id: string, ...nodes: readonly { readonly typeId: string; readonly config?: JsonObject }[]) {
  const definition: WorkflowDefinition = {
    id,
    name: id,
    version: '1',
    nodes: nodes.map(({ typeId, config = {} }, i) => ({
      id: `n${i}`,
      typeId,
      name: `n${i}`,
      position: { x: i, y: 0 },
      config,
      inputs: {},
    })),
    edges: nodes.slice(1).map((_, i) => ({ id: `e${i}`, sourceNodeId: `n${i}`, targetNodeId: `n${i + 1}` })),
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
  return definition;
}

export const noop = chain('noop', { typeId: 'core.noop' });
export const approval = chain('approval', { typeId: 'core.approvalGate', config: { title: 'Go on?' } });
