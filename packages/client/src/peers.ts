/** Peers: the other hosts that this one knows, for its operators. */
import type { CheckPeer, PeerChecked, PeerList } from '@cairn/protocol';
import { type CallOptions, type ChangeOptions, change, read } from './calls.ts';
import type { Connection } from './connection.ts';

export interface Peers {
  /** Those of the configuration. */
  list(options?: CallOptions): Promise<PeerList>;
  /** The host calls the peer, with your key there if you give one, and says what works. */
  check(peer: CheckPeer, options?: ChangeOptions): Promise<PeerChecked>;
}

const PATH = '/v1/host/cairn/peers';

export const peerCalls = (connection: Connection): Peers => ({
  list: (options) => read(connection, PATH, options),
  check: (peer, options) => change(connection, { path: `${PATH}/check`, body: peer }, options),
});
