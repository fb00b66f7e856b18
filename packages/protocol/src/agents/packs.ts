/** Packs on a host: installing, listing, and the two files that sign one. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { instant, text } from '../fields.ts';

/** `pack.files.json` (closed): the SHA-256 of every file of a pack but itself and its signature, as hex. */
export const packFileList = z
  .strictObject({ files: z.record(text, z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as hex')) })
  .meta({ id: 'PackFileList' });

/** `pack.files.json.sig` (closed): an Ed25519 signature over the bytes of `pack.files.json`, base64url. */
export const packSignature = z
  .strictObject({
    keyId: text.max(128),
    signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'must be 64 bytes as base64url'),
  })
  .meta({ id: 'PackSignature' });

/** `POST /v1/host/cairn/packs` (closed). */
export const installPack = z
  .strictObject({
    /** The pack as a gzipped tar, base64. */
    tarball: z
      .string()
      .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'must be base64')
      .meta({ contentEncoding: 'base64' }),
    /** What the tarball must be, as `sha256-` and base64. */
    integrity: z
      .string()
      .regex(/^sha256-[A-Za-z0-9+/]{43}=$/, 'must be sha256- and the digest as base64')
      .optional(),
  })
  .meta({ id: 'InstallPack' });

export const packScopes = ['host', 'tenant'] as const;

/** A pack that is installed. */
export const installedPack = z
  .looseObject({
    name: text,
    version: text,
    /** Who may use it: all tenants of this host, or only one. */
    scope: z.enum(packScopes),
    /** SHA-256 over the names and digests of its files, as hex. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    /** The key that signed it; null for an unsigned one. */
    signedBy: text.nullable(),
    installedAt: instant,
    agents: z.array(z.looseObject({ agentId: text, modelClass: text })),
    /** Optional capabilities that this host does not have. */
    degraded: z.array(text),
  })
  .meta({ id: 'InstalledPack' });

/** `GET /v1/host/cairn/packs`, by name. */
export const packList = z.looseObject({ packs: z.array(installedPack) }).meta({ id: 'PackList' });

export type PackFileList = DataOf<typeof packFileList>;
export type PackSignature = DataOf<typeof packSignature>;
export type InstallPack = DataOf<typeof installPack>;
export type InstalledPack = DataOf<typeof installedPack>;
export type PackList = DataOf<typeof packList>;
