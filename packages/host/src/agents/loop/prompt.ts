/** Which prompt an agent got and why: the chain of layers that were looked at, with references and no text. */
import type { JsonObject } from '@cairn/protocol';
import type { Draft } from '../../engine/state.ts';
import type { Agent } from './agent.ts';
import { clientRow } from './rows.ts';

/** The layers a system prompt may come from, the stronger first. */
const layers = ['node', 'agent-intrinsic', 'workflow-defaults', 'host-defaults'] as const;

export function promptResolvedRow(nodeId: string, agent: Agent): Draft {
  const has = agent.systemPrompt !== '';
  const source = promptRef(agent);
  let isFound = false;
  const chain = layers.map((layer): JsonObject => {
    if (has && layer === agent.promptLayer) {
      isFound = true;
      return { layer, source, applied: true };
    }
    return {
      layer,
      applied: false,
      reason: isFound ? `superseded by ${agent.promptLayer}` : 'no prompt at this layer',
    };
  });
  return clientRow('agent.promptResolved', nodeId, {
    nodeId,
    kind: 'system',
    agentId: agent.agentId,
    chain,
    resolved: has ? source : null,
  });
}

/** An agent's own prompt has no name but the agent's. */
function promptRef({ agentId, ref }: Agent): string {
  const name = agentId
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .slice(0, 128);
  return ref.version === undefined ? `prompt:${name}` : `prompt:${name}@${ref.version}`;
}
