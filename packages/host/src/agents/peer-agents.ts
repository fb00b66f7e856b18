/** Agents of kind peer: an A2A peer of the configuration does their work. They have no model and no prompt. */
import { type DefinedAgent, defineAgent } from './define-agent.ts';
import { A2A_SCOPE } from './tools/tool-registry.ts';

export interface PeerAbout {
  readonly name: string;
  readonly description?: string | undefined;
}

/** The id that workflows, conversations and other agents use for a peer. */
export const peerAgentId = (name: string): string => `host:${name}`;

export function peerAgents(peers: readonly PeerAbout[]): readonly DefinedAgent[] {
  return peers.map(({ name, description = `The A2A peer ${name}, an agent of another system.` }) => {
    const { agentId, definition } = defineAgent({
      id: peerAgentId(name),
      persona: name,
      description,
      instructions: 'An A2A peer does the work.',
      tools: [`${A2A_SCOPE}${name}`],
    });
    return { agentId, definition: { ...definition, peer: name } };
  });
}
