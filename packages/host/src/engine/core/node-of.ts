/** The node of a row or of a fact. A row without its node is a defect of this program. */
import { invariant } from '@cairn/protocol';
import type { CompiledNode, Workflow } from '../workflow/workflow.ts';
import type { ActiveNode, RunState } from './state.ts';

export function nodeById({ nodes }: Workflow, nodeId: string | undefined): CompiledNode {
  const node = nodeId === undefined ? undefined : nodes.get(nodeId);
  if (node === undefined) invariant(false, 'node-known', { nodeId: nodeId ?? null });
  return node;
}

export function activeNode({ active }: Readonly<RunState>, nodeId: string): ActiveNode {
  const known = active[nodeId];
  if (known === undefined) invariant(false, 'node-active', { nodeId });
  return known;
}
