/** The peers of the configuration, and a check of one: the host calls it at the address that the operator wrote. */
import { checkPeer, parseShape, peerChecked, peerList, quoted, RetryableError, TerminalError } from '@cairn/protocol';
import type { HostConfig } from '../config/config.ts';
import type { Call, Route } from '../http/routes.ts';
import { type PeerCheckPorts, peerFindings } from './check-peer.ts';

/** A peer as the configuration has it. */
export interface KnownPeer {
  readonly hostId: string;
  readonly url: string;
  readonly answersForUsers: boolean;
  readonly hasKey: boolean;
  readonly calls: readonly string[];
}

export interface PeerRoutePorts extends PeerCheckPorts {
  readonly peers: readonly KnownPeer[];
}

/** Checks at once. Each waits for another host. */
const MAX_CHECKS = 4;

/** Peers are those of the whole host, so they are for its operators. */
export function peerRoutes(ports: PeerRoutePorts): readonly Route[] {
  let running = 0;
  const checked = async (call: Call): Promise<string> => {
    if (running >= MAX_CHECKS) throw tooMany();
    running += 1;
    try {
      return await check(call, ports);
    } finally {
      running -= 1;
    }
  };
  return [
    {
      method: 'GET',
      path: '/v1/host/cairn/peers',
      scope: 'audit:read',
      handle: async () => JSON.stringify({ hostId: ports.hostId, peers: ports.peers }),
      doc: {
        id: 'listPeers',
        summary: 'The other hosts that this one knows',
        responses: { 200: { description: 'Those of the configuration.', shape: peerList } },
      },
    },
    {
      method: 'POST',
      path: '/v1/host/cairn/peers/check',
      scope: 'audit:read',
      // It holds a key, so that nothing of it is recorded.
      repeatable: true,
      handle: checked,
      doc: {
        id: 'checkPeer',
        summary: 'Call a peer and say what works between the two hosts',
        body: checkPeer,
        responses: { 200: { description: 'What was found, one thing after the other.', shape: peerChecked } },
        errors: ['not_found', 'rate_limited'],
      },
    },
  ];
}

async function check(call: Call, ports: PeerRoutePorts): Promise<string> {
  const { hostId, key, workflow } = parseShape(checkPeer, call.request.body, 'The check');
  const peer = ports.peers.find((one) => one.hostId === hostId);
  if (peer === undefined) throw unknown(hostId);
  const { url } = peer;
  return JSON.stringify({ hostId, url, findings: await peerFindings({ hostId, url, key, workflow }, ports) });
}

/** What the configuration says of other hosts. */
export function knownPeers({ peers, keys, mcp, a2a }: HostConfig): readonly KnownPeer[] {
  return peers.map(({ hostId, url, answersForUsers }) => {
    const isThere = (other: string | undefined) => other !== undefined && new URL(other).origin === new URL(url).origin;
    return {
      hostId,
      url,
      answersForUsers,
      hasKey: keys.some(({ peer }) => peer === hostId),
      calls: [
        ...mcp.servers.filter((server) => isThere(server.url)).map(({ id }) => `mcp:${id}`),
        ...a2a.peers.filter((agent) => isThere(agent.url)).map(({ name }) => `a2a:${name}`),
      ],
    };
  });
}

const unknown = (hostId: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The configuration lists no host ${quoted(hostId, 140)}.`,
    hint: 'GET /v1/host/cairn/peers lists them; "cairn peer add" adds one.',
  });

const tooMany = (): RetryableError =>
  new RetryableError('rate_limited', {
    message: `${MAX_CHECKS} checks of peers are under way.`,
    hint: 'Try again when one of them has ended.',
    details: { scope: 'host', limit: `${MAX_CHECKS} checks at once`, retryAfterMs: 1_000 },
  });
