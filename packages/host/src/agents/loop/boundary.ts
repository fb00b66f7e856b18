/** Records a handoff when a node starts with a different agent than the node before it. */

import type { Draft } from '../../engine/core/state.ts';
import { agentOf } from './agent.ts';
import type { AgentContext } from './agent-config.ts';
import { handoffRow } from './rows.ts';

/**
 * Returns one row for each other agent whose node led here. Returns none if no agent acted before or the same agent
 * continues.
 */
export function boundaryRows(context: AgentContext): readonly Draft[] {
  const { node, compiled, sources, state } = context;
  if (node.agent === undefined) return [];
  const isPinned = new Set(compiled.definition.nodes.filter(({ agent }) => agent !== undefined).map(({ id }) => id));
  const { nodeStates, agentRefs } = state.view;
  const before = sources.filter((id) => isPinned.has(id)).map((id) => nodeStates[id]?.agentId);
  const others = new Set(before.filter((id) => typeof id === 'string').filter((id) => id !== node.agent?.agentId));
  if (others.size === 0) return [];
  const to = agentOf(context, node.agent.agentId).ref;
  return [...others].map((id) => {
    const from = (Object.hasOwn(agentRefs, id) ? agentRefs[id] : undefined) ?? { agentId: id };
    return handoffRow(node.id, { from, to, context: undefined });
  });
}
