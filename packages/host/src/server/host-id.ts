/** The id of this host: configured, or generated at the first start and kept in the data folder. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { quoted, TerminalError } from '@cairn/protocol';
import type { FolderFacts } from '../log/sqlite/folder-facts.ts';
import type { HostConfig } from './config/config.ts';

/** A configuration whose host id is known. */
export interface IdentifiedConfig extends HostConfig {
  readonly hostId: string;
}

/** `facts` are those of the data folder; null for a store that keeps none, whose host gets another id at each start. */
export async function identified(
  config: HostConfig,
  facts: Pick<FolderFacts, 'hostId' | 'saveHostId'> | null,
): Promise<IdentifiedConfig> {
  const hostId = config.hostId ?? (await keptHostId(facts));
  if (config.peers.some((peer) => peer.hostId === hostId)) throw ownPeer(hostId);
  return { ...config, hostId };
}

async function keptHostId(facts: Pick<FolderFacts, 'hostId' | 'saveHostId'> | null): Promise<string> {
  const known = (await facts?.hostId()) ?? null;
  if (known !== null) return known;
  const hostId = generatedHostId();
  await facts?.saveHostId(hostId);
  // Another node may have been faster.
  return (await facts?.hostId()) ?? hostId;
}

/** A cause on this host could not be told from one on the other. */
const ownPeer = (hostId: string): TerminalError =>
  new TerminalError('config_invalid', {
    message: `peers: ${quoted(hostId, 140)} is the id of this host.`,
    hint: 'List only other hosts. If another host has this id, give one of them another hostId.',
  });

/** Two machines may have the same name, and one machine several hosts. */
const generatedHostId = (): string =>
  `${
    hostname()
      .replace(/[^A-Za-z0-9.-]/g, '-')
      .slice(0, 64) || 'host'
  }/${randomBytes(6).toString('hex')}`;
