/** The identities of a host, from its configuration: those declared, and the cards of its A2A peers. */
import { peerAgentId } from '../../agents/peer-agents.ts';
import type { AgentMetadata, Report } from '../../engine/ports.ts';
import { peerCardUrl } from '../a2a-client/kept-card.ts';
import { type PeerSettings, peerSettings } from '../a2a-client/peer-settings.ts';
import { systemTimers } from '../compose.ts';
import type { HostConfig } from '../config/config.ts';
import { createEgress } from '../egress/egress.ts';
import { publicDns } from '../egress/public-dns.ts';
import { createAgentIdentities } from './agent-identities.ts';
import type { DeclaredIdentity } from './identity.ts';
import { plainOriginsOf } from './resolve-did.ts';

export interface HostIdentityPorts {
  readonly now: () => number;
  readonly report: Report;
}

/** Documents come from outside, so only `egress.allow` and the addresses of peers may be private. */
export function hostIdentities(config: HostConfig, ports: HostIdentityPorts): AgentMetadata | null {
  const { agents, egress, a2a } = config;
  const allow = [...egress.allow, ...a2a.peers.map(({ url }) => new URL(url).origin)];
  return createAgentIdentities(
    { declared: agents.identities, peers: peerIdentities(config) },
    {
      egress: createEgress({ allow, resolve: publicDns, timers: systemTimers }),
      plainOrigins: plainOriginsOf(egress.allow),
      ...ports,
    },
  );
}

const peerIdentities = (config: HostConfig): Readonly<Record<string, DeclaredIdentity>> =>
  Object.fromEntries(peerSettings(config).map((peer) => [peerAgentId(peer.name), peerIdentity(peer)]));

/** The card of a peer, fetched with the headers of the peer. */
export const peerIdentity = ({ url, headers }: Pick<PeerSettings, 'url' | 'headers'>) => ({
  a2aCard: peerCardUrl(url),
  keys: [],
  headers: () => Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, value.reveal()])),
});
