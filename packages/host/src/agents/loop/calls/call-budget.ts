/** What a tool call on another host may use of the budget of its run. */
import type { CallBudget } from '@cairn/protocol';
import { shareElsewhere } from '../../../engine/family/budget.ts';
import { othersAtWork } from '../../../engine/family/child-drafts.ts';
import { TOOL_PERFORMER } from '../../../engine/performer-ids.ts';
import type { NodeContext } from '../../../engine/workflow/node-type.ts';
import { A2A_SCOPE, MCP_SCOPE } from '../../tools/tool-registry.ts';

type Caller = Pick<NodeContext, 'state' | 'compiled' | 'node'>;

/** Calls of one turn run at once, so that each gets its share, as nodes of other branches do. */
export function budgetElsewhere(context: Caller, toolId: string): { readonly budget?: CallBudget } {
  if (!toolId.startsWith(MCP_SCOPE) && !toolId.startsWith(A2A_SCOPE)) return {};
  const { state, node } = context;
  const open = [...state.calls.values()].filter(({ nodeId, step }) => nodeId === node.id && step === TOOL_PERFORMER);
  return { budget: shareElsewhere(state, Math.max(1, open.length) + othersAtWork(context)) };
}
