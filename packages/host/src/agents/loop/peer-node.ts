/** `core.a2a.invoke`: a node that acts as the agent of an A2A peer. The peer comes from the configuration of the host. */
import type { z } from 'zod';
import { defineNodeType, type NodeAction, type NodeContext } from '../../engine/workflow/node-type.ts';
import { peerAgentId } from '../peer-agents.ts';
import { PEER_NODE, peerAgentOf } from './agent.ts';
import { peerConfig } from './agent-config.ts';
import { createAgentDriver } from './driver.ts';
import type { LoopOptions } from './loop-options.ts';

type PeerConfig = z.infer<typeof peerConfig>;

/** `peers` are the names of the host's peers; without a host, undefined. */
export const createPeerNode = (options: LoopOptions, peers?: readonly string[]) =>
  defineNodeType({
    typeId: PEER_NODE,
    config: peerConfig,
    driver: createAgentDriver(options),
    actsAsAgent: () => true,
    otherAgents: ({ peer }) => {
      const [only, ...others] = peers ?? [];
      const named = peer ?? (others.length === 0 ? only : undefined);
      return named === undefined ? [] : [peerAgentId(named)];
    },
    check: ({ config }) => (peers === undefined ? [] : problemsOf(config, peers)),
    begin,
  });

function problemsOf({ peer }: PeerConfig, peers: readonly string[]) {
  if (peer === undefined) {
    return peers.length > 1
      ? [{ path: ['config', 'peer'], message: `must name one of the peers of this host: ${peers.join(', ')}` }]
      : [];
  }
  const known = peers.length === 0 ? 'it has none' : `it has ${peers.join(', ')}`;
  return peers.includes(peer)
    ? []
    : [{ path: ['config', 'peer'], message: `${peer} is none of the peers in a2a.peers of this host; ${known}` }];
}

function begin(context: NodeContext<PeerConfig>): NodeAction {
  if (context.node.agent !== undefined || peerAgentOf(context) !== null) return { kind: 'wait', drafts: [] };
  const which = context.config.peer === undefined ? 'an A2A peer' : `the A2A peer ${context.config.peer}`;
  const message = `Node ${context.node.id} calls ${which}, which the configuration of this host did not have when the run started.`;
  return { kind: 'fail', error: { code: 'not_found', message, retryable: false } };
}
