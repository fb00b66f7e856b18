/** Finds the port of a test server. */
import type { AddressInfo } from 'node:net';

/** The TCP port of a server that listens on one. */
export function portOf(server: { address(): string | AddressInfo | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`No TCP port: ${address}.`);
  return address.port;
}
