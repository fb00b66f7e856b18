/** Checks whether the host meets a pack's requirements: runtime, dependencies, capabilities and model classes. */
import { type Discovery, hostSurfaces, modelClassOf, type PackManifest, quoted, TerminalError } from '@cairn/protocol';
import semver from 'semver';
import { hasCapability } from './capabilities.ts';

/** The fields of a pack that dependency checks use. */
export interface PackName {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
}

/** The host runs no code of packs. It rejects packs that need a runtime, and grants that only code could use. */
export function checkRuntime({ engines, runtime, nodes = [] }: PackManifest, protocolVersion: string): void {
  if (!inRange(`${protocolVersion}.0`, engines.openwop, 'engines.openwop')) {
    throw new TerminalError('unsupported_runtime', {
      message: `The pack works with openwop ${quoted(engines.openwop, 60)}; this host speaks ${protocolVersion}.`,
      hint: 'Use a version of the pack for this protocol.',
      details: { requires: engines.openwop, protocolVersion },
    });
  }
  if (runtime.language !== 'remote' || nodes.length > 0) {
    const what = nodes.length > 0 ? 'brings nodes' : `needs the runtime ${runtime.language}`;
    throw new TerminalError('unsupported_runtime', {
      message: `The pack ${what}; this host runs no code of packs.`,
      hint: 'A pack of agents has runtime.language "remote" and no nodes.',
      details: { language: runtime.language },
    });
  }
  const unmet = runtime.requires ?? [];
  if (unmet.length === 0) return;
  throw new TerminalError('pack_runtime_requirement_unmet', {
    message: `The pack asks for ${unmet.join(', ')}; this host grants packs nothing of the kind.`,
    hint: 'Agents act through tools: leave runtime.requires out.',
    details: { unmet },
  });
}

/** Checks version ranges in both directions, the pack's dependencies and installed packs that depend on it, and cycles. */
export function checkDependencies(pack: PackName, installed: readonly PackName[]): void {
  const { name, dependencies = {} } = pack;
  for (const [needed, range] of Object.entries(dependencies)) {
    const found = needed === name ? pack : installed.find((other) => other.name === needed);
    if (found === pack) throw dependencyCycle([name, name]);
    if (found === undefined) {
      throw new TerminalError('pack_version_not_found', {
        message: `${name} depends on ${quoted(needed, 120)} ${quoted(range, 60)}, which is not installed.`,
        hint: 'Install that pack first.',
        details: { packName: needed, range },
      });
    }
    if (!inRange(found.version, range, `dependencies.${needed}`)) throw rangesClash(found, [range], name);
  }
  for (const other of installed) {
    const range = other.dependencies?.[name];
    if (other.name === name || range === undefined) continue;
    if (!inRange(pack.version, range, `dependencies.${name}`)) throw rangesClash(pack, [range], other.name);
  }
  const cycle = wayBack(pack, new Map(installed.map((other) => [other.name, other])));
  if (cycle !== null) throw dependencyCycle(cycle);
}

/**
 * The path from a pack over its dependencies to itself, or null. An installed pack may depend on an earlier version of
 * the one that is checked; none of two that depend on each other could be removed.
 */
function wayBack({ name, dependencies }: PackName, installed: ReadonlyMap<string, PackName>): readonly string[] | null {
  const seen = new Set<string>();
  const onward = (needs: PackName['dependencies'], path: readonly string[]): readonly string[] | null => {
    for (const needed of Object.keys(needs ?? {})) {
      if (needed === name) return [...path, name];
      if (seen.has(needed)) continue;
      seen.add(needed);
      const found = onward(installed.get(needed)?.dependencies, [...path, needed]);
      if (found !== null) return found;
    }
    return null;
  };
  return onward(dependencies, [name]);
}

export const dependencyCycle = (cycle: readonly string[]): TerminalError =>
  new TerminalError('pack_dependency_cycle', {
    message: `Packs depend on each other in a circle: ${cycle.join(' -> ')}.`,
    hint: 'Take one of these dependencies out.',
    details: { cycle },
  });

const rangesClash = (pack: PackName, conflictingRanges: readonly string[], by: string): TerminalError =>
  new TerminalError('pack_dependency_conflict', {
    message: `${by} takes ${pack.name} in ${quoted(conflictingRanges[0] ?? '', 60)}, and it is ${pack.version}.`,
    hint: 'Install a version in that range, or remove the pack that asks for it.',
    details: { packName: pack.name, conflictingRanges },
  });

function inRange(version: string, range: string, where: string): boolean {
  if (range.length <= 256 && semver.validRange(range) !== null) {
    return semver.satisfies(version, range, { includePrerelease: true });
  }
  throw new TerminalError('invalid_manifest', {
    message: `pack.json is not valid: ${where} is ${quoted(range, 60)}, which is not a range of versions.`,
    hint: 'Write a range such as ">=1.0 <2.0.0" or "^1.2.0".',
    details: { problems: [{ path: where, problem: 'must be a semver range' }] },
  });
}

/** Rejects a pack when a required capability is missing. Missing optional capabilities appear in the inventory. */
export function checkPeers(manifest: PackManifest, document: Discovery): void {
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const undefinedKey = peers.find((key) => key.startsWith('host.') && !hostSurfaces.includes(surfaceOf(key)));
  if (undefinedKey !== undefined) {
    throw new TerminalError('pack_peer_dependency_undefined', {
      message: `The pack needs ${quoted(undefinedKey, 120)}; the protocol has no such surface.`,
      hint: 'Check the name against the families of the discovery document.',
      details: { requiredCapability: undefinedKey },
    });
  }
  const missing = unmetPeers(manifest, document).filter((key) => !isOptional(manifest, key));
  if (missing.length === 0) return;
  throw new TerminalError('pack_peer_dependency_missing', {
    message: `The pack needs ${missing.join(', ')}, which this host does not have.`,
    hint: 'GET /.well-known/openwop says what it has. A pack that works without marks the key as optional in peerDependenciesMeta.',
    details: { missing, requiredCapability: missing[0] },
  });
}

const surfaceOf = (key: string): string => key.split('.')[1] ?? '';

const isOptional = ({ peerDependenciesMeta }: PackManifest, key: string): boolean =>
  peerDependenciesMeta !== undefined &&
  Object.hasOwn(peerDependenciesMeta, key) &&
  peerDependenciesMeta[key]?.optional === true;

/** The peer capabilities of a pack that this host lacks. */
export const unmetPeers = (
  { peerDependencies = {} }: Pick<PackManifest, 'peerDependencies'>,
  document: Discovery,
): readonly string[] =>
  Object.entries(peerDependencies)
    .filter(([key, wanted]) => !hasCapability(document, key, wanted))
    .map(([key]) => key);

export function checkModelClasses({ agents = [] }: PackManifest, offered: readonly string[]): void {
  for (const { agentId, modelClass } of agents) {
    if (offered.includes(modelClassOf(modelClass))) continue;
    throw new TerminalError('unsupported_model_class', {
      message: `${agentId} needs a model of the class ${modelClass} (${modelClassOf(modelClass)}), which this host does not offer.`,
      hint: `It offers ${offered.join(', ') || 'none'}: see agents.modelClasses of its discovery document.`,
      details: { agentId, modelClass },
    });
  }
}
