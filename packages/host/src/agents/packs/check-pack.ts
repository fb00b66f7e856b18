/** Runs all checks of a pack before installation, in a fixed order. The first failure is reported. */
import { type Discovery, type PackManifest, PROTOCOL_VERSION } from '@cairn/protocol';
import { readManifest } from './manifest.ts';
import { resolveAgents, type StoredAgent } from './pack-agents.ts';
import type { PackFiles } from './pack-files.ts';
import { type PackTemplate, packTemplates } from './pack-templates.ts';
import { type PackWorkflow, packWorkflows } from './pack-workflows.ts';
import { checkDependencies, checkModelClasses, checkPeers, checkRuntime, type PackName } from './requirements.ts';
import { packHash, signerOf, type TrustPolicy } from './signature.ts';

/** A pack that passed all checks. */
export interface CheckedPack {
  readonly manifest: PackManifest;
  /** Hash of the content. */
  readonly hash: string;
  readonly signedBy: string | null;
  readonly agents: readonly StoredAgent[];
  readonly workflows: readonly PackWorkflow[];
  readonly templates: readonly PackTemplate[];
}

/** The host's policy and state that a pack is checked against. */
export interface PackCheckOptions {
  readonly policy: TrustPolicy;
  readonly discovery: Discovery;
  /** Packs visible to the installing tenant. */
  readonly installed: readonly PackName[];
}

/** Expects files that were unpacked within the size limits. Each check relies on the ones before it. */
export function checkPack(files: PackFiles, { policy, discovery, installed }: PackCheckOptions): CheckedPack {
  const signedBy = signerOf(files, policy);
  const manifest = readManifest(files);
  checkRuntime(manifest, discovery.protocolVersion);
  checkDependencies(manifest, installed);
  checkPeers(manifest, discovery);
  checkModelClasses(manifest, discovery.agents?.modelClasses ?? []);
  return { manifest, hash: packHash(files), signedBy, ...contentsOf(manifest, files) };
}

/** Runs only the checks that do not depend on a host. */
export function lintPack(files: PackFiles): Omit<CheckedPack, 'signedBy'> {
  const manifest = readManifest(files);
  checkRuntime(manifest, PROTOCOL_VERSION);
  return { manifest, hash: packHash(files), ...contentsOf(manifest, files) };
}

const contentsOf = (
  manifest: PackManifest,
  files: PackFiles,
): Pick<CheckedPack, 'agents' | 'workflows' | 'templates'> => ({
  agents: resolveAgents(manifest, files),
  workflows: packWorkflows(files),
  templates: packTemplates(files),
});
