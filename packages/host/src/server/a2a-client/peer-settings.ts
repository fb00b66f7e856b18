/** One A2A peer of the configuration, with the values of its headers. */
import type { HostConfig } from '../config/config.ts';
import { resolveHeaders } from '../config/secrets.ts';
import type { SecretText } from '../secrets/secret-text.ts';

export interface PeerSettings extends Omit<HostConfig['a2a']['peers'][number], 'headers'> {
  readonly headers: Readonly<Record<string, SecretText>>;
}

export const peerSettings = ({ a2a, secrets }: Pick<HostConfig, 'a2a' | 'secrets'>): readonly PeerSettings[] =>
  a2a.peers.map((peer) => ({ ...peer, headers: resolveHeaders(peer.headers, secrets) }));
