/** `pack.json`: what a pack is, what it brings and what it needs. */
import { z } from 'zod';
import { jsonObject, text } from '../fields.ts';
import { agentManifest } from './agent-manifest.ts';

/** Semantic Versioning. */
const version = z
  .string()
  .max(64)
  .regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/, 'must be a version such as 1.2.0');

/** The published form knows no `local`, which no registry takes; a host does: its agents have ids of that tier. */
const packName = z
  .string()
  .max(256)
  .regex(
    /^(core|vendor|community|private|local)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/,
    'must be <tier>.<org>.<pack>, where the tier is core, vendor, community, private or local',
  );

const runtimeLanguages = ['javascript', 'python', 'go', 'wasm', 'wasm-component', 'remote'] as const;
const runtimeFormats = ['esm', 'cjs', 'wheel', 'binary', 'shared-library', 'wasm', 'wasm-component'] as const;
const primitives = [
  'net.dns',
  'net.outbound',
  'crypto',
  'subprocess',
  'fs.read',
  'fs.write',
  'env.read',
  'clock',
] as const;

/** A node type that the pack implements. This host runs no code of packs, so that only its name is of interest. */
const packNode = z.looseObject({ typeId: text.max(256), version: z.string(), category: z.string(), role: z.string() });

const ranges = z.record(z.string(), z.string());

export const packManifest = z
  .strictObject({
    kind: z.literal('node').optional(),
    name: packName,
    version,
    description: z.string().max(1024).optional(),
    author: z.string().optional(),
    license: z.string().optional(),
    homepage: z.string().optional(),
    repository: z.string().optional(),
    keywords: z.array(z.string().max(64)).max(50).optional(),
    /** Which versions of the protocol it works with, as a semver range. */
    engines: z.looseObject({ openwop: z.string() }),
    /** Other packs: name to semver range. */
    dependencies: ranges.optional(),
    /** Capabilities of the host: dotted key to `supported`, or to a value that it must have. */
    peerDependencies: ranges.optional(),
    peerDependenciesMeta: z.record(z.string(), z.strictObject({ optional: z.boolean().optional() })).optional(),
    nodes: z.array(packNode).optional(),
    agents: z.array(agentManifest).optional(),
    runtime: z.strictObject({
      language: z.enum(runtimeLanguages),
      entry: z.string(),
      format: z.enum(runtimeFormats).optional(),
      minRuntimeVersion: z.string().optional(),
      requires: z.array(z.enum(primitives)).optional(),
    }),
    signing: z
      .strictObject({
        publicKeyRef: z.string().optional(),
        signatureRef: z.string().optional(),
        method: z.enum(['manual', 'sigstore']).optional(),
      })
      .optional(),
    connector: jsonObject.optional(),
  })
  .refine(({ nodes = [], agents = [] }) => nodes.length + agents.length > 0, {
    message: 'must have at least one entry in agents or nodes',
  })
  .meta({ id: 'PackManifest' });

export type PackManifest = z.infer<typeof packManifest>;
