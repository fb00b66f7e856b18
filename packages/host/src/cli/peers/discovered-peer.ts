/** What a peer says of itself in its discovery document. */
import { type Discovery, discovery, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { hostIdIn } from '../../peer-findings.ts';
import { type PeerAddress, peerClient } from '../peer-client.ts';

export interface DiscoveredPeer {
  readonly document: Discovery;
  /** Null for a host that has no id, and so cannot be a peer. */
  readonly hostId: string | null;
}

export async function discoverPeer(address: PeerAddress): Promise<DiscoveredPeer> {
  const read = discovery.safeParse(await peerClient(address).discovery());
  if (!read.success) {
    throw new TerminalError('identity_unresolved', {
      message: `${address.url} is not an OpenWOP host: ${quoted(z.prettifyError(read.error), 300)}`,
      hint: 'Pass the address that the host prints when it is ready, such as https://beta.example.org.',
    });
  }
  return { document: read.data, hostId: hostIdIn(read.data) };
}
