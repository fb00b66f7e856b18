/** Blobs in memory. */
import { invariant } from '@cairn/protocol';
import { blobHash } from '../blob-hash.ts';
import { quotaExceeded } from '../errors.ts';
import { type Blobs, MAX_BLOB_BYTES } from '../ports/blobs.ts';
import type { Tables } from './tables.ts';

export const inMemoryBlobs = (tables: Tables): Blobs => ({
  put: async ({ tenant, bytes, at, maxTenantBytes }) => {
    tables.assertOpen();
    invariant(bytes.length > 0 && bytes.length <= MAX_BLOB_BYTES, 'blob-size', { bytes: bytes.length });
    const sha256 = blobHash(bytes);
    const blobs = tables.blobs.of(tenant);
    const known = blobs.get(sha256);
    const used = tables.tenantBytes(tenant);
    if (known !== undefined) known.putAt = Math.max(known.putAt, at);
    else if (maxTenantBytes !== undefined && used + bytes.length > maxTenantBytes) {
      throw quotaExceeded(tenant, used, maxTenantBytes);
    } else blobs.set(sha256, { bytes: new Uint8Array(bytes), putAt: at, runs: new Set() });
    return { sha256, bytes: bytes.length };
  },
  get: async (tenant, sha256) => {
    tables.assertOpen();
    return tables.blobs.of(tenant).get(sha256)?.bytes.slice() ?? null;
  },
  tenantBytes: async (tenant) => {
    tables.assertOpen();
    return tables.blobs.bytesOf(tenant);
  },
  sweepSome: async (before) => {
    tables.assertOpen();
    return tables.blobs.sweep(before);
  },
});
