import { z } from 'zod';
import { askDrafts } from '../../src/engine/core/interrupts.ts';
import { agentSharing } from '../../src/engine/workflow/agent-sharing.ts';
import { defineNodeType, type NodeAction, type NodeContext } from '../../src/engine/workflow/node-type.ts';

/** Completes with the agents it knows. With `config.asks`, it first waits for an answer. */
export const actingNode = defineNodeType({
  typeId: 'cairn.agent',
  config: z.looseObject({ asks: z.boolean().optional(), agentSharing: agentSharing.optional() }),
  actsAsAgent: () => true,
  begin(context) {
    if (context.config.asks !== true) return known(context);
    const question = { nodeId: context.node.id, kind: 'custom' as const, data: { customKind: 'go-on', payload: {} } };
    return { kind: 'wait', drafts: askDrafts(context.state, question) };
  },
  resume: known,
});

function known({ node, agents, inputs }: NodeContext): NodeAction {
  const prompts: Record<string, string> = {};
  for (const [agentId, definition] of agents) prompts[agentId] = String(definition.systemPrompt);
  return { kind: 'complete', outputs: { agentId: node.agent?.agentId ?? null, prompts, inputs } };
}
