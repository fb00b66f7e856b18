/** Limits open connections, in total and per client address. Further connections are closed at once. */
import type { Server } from 'node:http';
import { networkOf } from '../access/addresses.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** A reverse proxy connects for many clients, so only the total applies to it. */
  readonly isTrustedProxy: (address: string) => boolean;
}

export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Map<string, number>();
  server.maxConnections = limits.maxConnections;
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    if (limits.isTrustedProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = (open.get(network) ?? 0) + 1;
    if (count > limits.maxConnectionsPerAddress) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
