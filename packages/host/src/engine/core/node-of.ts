/** Looks up the node of a row or a fact. A missing node is a defect in the engine. */
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
