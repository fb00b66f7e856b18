/** The outputs of a completed run. */
import type { JsonObject } from '@cairn/protocol';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import type { RunState } from './state.ts';

/**
 * Returns the outputs of the `primary` nodes, else of the `core.end` nodes, else of the nodes without outgoing edges.
 * Outputs of several nodes are keyed by node id.
 */
export function runOutputs(state: RunState, workflow: Workflow): JsonObject {
  const completed = [...workflow.nodes.values()].filter((node) => state.outputs[node.id] !== undefined);
  const chosen =
    some(completed, (node) => node.node.outputRole === 'primary') ??
    some(completed, (node) => node.type.typeId === 'core.end') ??
    completed.filter((node) => node.out.length === 0);
  const [only] = chosen;
  if (chosen.length === 1 && only !== undefined) return state.outputs[only.id] ?? {};
  return Object.fromEntries(chosen.map((node) => [node.id, state.outputs[node.id] ?? {}]));
}

function some(nodes: readonly CompiledNode[], is: (node: CompiledNode) => boolean): CompiledNode[] | undefined {
  const found = nodes.filter(is);
  return found.length > 0 ? found : undefined;
}
