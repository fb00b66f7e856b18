/** All that is checked of a pack before it is installed, in one order: the first failure is the answer. */
import { type Discovery, type PackManifest, PROTOCOL_VERSION } from '@cairn/protocol';
import { readManifest } from './manifest.ts';
import { resolveAgents, type StoredAgent } from './pack-agents.ts';
import type { PackFiles } from './pack-files.ts';
import { type PackWorkflow, packWorkflows } from './pack-workflows.ts';
import { checkDependencies, checkModelClasses, checkPeers, checkRuntime, type PackName } from './requirements.ts';
import { packHash, signerOf, type TrustPolicy } from './signature.ts';

/** A pack that may be installed. */
export interface CheckedPack {
  readonly manifest: PackManifest;
  /** What it is by content. */
  readonly hash: string;
  readonly signedBy: string | null;
  readonly agents: readonly StoredAgent[];
  readonly workflows: readonly PackWorkflow[];
}

/** What a pack is held against. */
export interface PackCheckOptions {
  readonly policy: TrustPolicy;
  readonly discovery: Discovery;
  /** Those that whoever installs it can see. */
  readonly installed: readonly PackName[];
}

/** The files have been unpacked within their bounds; from here on they are believed step by step. */
export function checkPack(files: PackFiles, { policy, discovery, installed }: PackCheckOptions): CheckedPack {
  const signedBy = signerOf(files, policy);
  const manifest = readManifest(files);
  checkRuntime(manifest, discovery.protocolVersion);
  checkDependencies(manifest, installed);
  checkPeers(manifest, discovery);
  checkModelClasses(manifest, discovery.agents?.modelClasses ?? []);
  return { manifest, hash: packHash(files), signedBy, ...contentsOf(manifest, files) };
}

/** What is wrong with a pack wherever it is installed: what needs a host to tell is left out. */
export function lintPack(files: PackFiles): Omit<CheckedPack, 'signedBy'> {
  const manifest = readManifest(files);
  checkRuntime(manifest, PROTOCOL_VERSION);
  return { manifest, hash: packHash(files), ...contentsOf(manifest, files) };
}

const contentsOf = (manifest: PackManifest, files: PackFiles): Pick<CheckedPack, 'agents' | 'workflows'> => ({
  agents: resolveAgents(manifest, files),
  workflows: packWorkflows(files),
});
