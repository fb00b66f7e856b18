/** A pack that is installed, and its record in the store. */
import type { InstalledPack, PackManifest } from '@cairn/protocol';
import type { PackRecord } from '../log/ports/packs.ts';
import type { CheckedPack } from './packs/check-pack.ts';
import type { StoredAgent } from './packs/pack-agents.ts';

/** An installed pack of the host or of a tenant. */
export interface KnownPack {
  readonly manifest: PackManifest;
  readonly agents: PackBody['agents'];
  readonly scope: InstalledPack['scope'];
  readonly hash: string;
  readonly signedBy: string | null;
  readonly installedAt: number;
}

/** The JSON body of a pack record. Agents are stored as separate definitions, which outlive the pack. */
interface PackBody {
  readonly manifest: PackManifest;
  readonly signedBy: string | null;
  readonly agents: readonly { readonly agentId: string; readonly hash: string }[];
}

export const agentIdsOf = ({ manifest }: Pick<KnownPack, 'manifest'>): readonly string[] =>
  (manifest.agents ?? []).map(({ agentId }) => agentId);

export function recordOf(tenant: string, pack: CheckedPack, installedAt: number): PackRecord {
  const { manifest, signedBy, hash } = pack;
  const body: PackBody = { manifest, signedBy, agents: pack.agents.map(withoutBody) };
  return { tenant, name: manifest.name, version: manifest.version, hash, installedAt, body: JSON.stringify(body) };
}

export function knownFrom({ hash, installedAt, body }: PackRecord): KnownPack {
  return { ...(JSON.parse(body) as PackBody), hash, installedAt, scope: 'tenant' };
}

export const withoutBody = ({ agentId, hash }: StoredAgent): PackBody['agents'][number] => ({ agentId, hash });
