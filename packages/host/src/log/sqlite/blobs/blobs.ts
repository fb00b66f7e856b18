/** The blobs of the SQLite store. Each put is a transaction, which shares its flush with others. */
import { invariant } from '@cairn/protocol';
import { blobHash } from '../../blob-hash.ts';
import { quotaExceeded } from '../../errors.ts';
import { type Blobs, MAX_BLOB_BYTES } from '../../ports/blobs.ts';
import type { Connection } from '../connection.ts';
import { query } from '../query.ts';
import type { TenantBytes } from '../run-index/tenant-usage.ts';
import { BLOB_BODY, type BlobTables } from './blob-tables.ts';

interface BlobPorts extends Connection {
  readonly tables: BlobTables;
  readonly usage: TenantBytes;
}

/** Rows of a transaction that a sweep takes. */
const SWEEP_ROWS = 64;

export function sqliteBlobs({ db, writer, read, tables, usage }: BlobPorts): Blobs {
  const body = query<[body: Uint8Array<ArrayBuffer>]>(db, BLOB_BODY);
  return {
    put: async ({ tenant, bytes, at, maxTenantBytes }) => {
      invariant(bytes.length > 0 && bytes.length <= MAX_BLOB_BYTES, 'blob-size', { bytes: bytes.length });
      const sha256 = blobHash(bytes);
      await writer.submit({
        rows: 1,
        bytes: bytes.length,
        prepare: () => {
          if (maxTenantBytes === undefined || tables.has(tenant, sha256)) return;
          const used = usage.of(tenant) + tables.bytesOf(tenant);
          if (used + bytes.length > maxTenantBytes) throw quotaExceeded(tenant, used, maxTenantBytes);
        },
        apply: () => tables.put(tenant, { sha256, bytes }, at),
      });
      return { sha256, bytes: bytes.length };
    },
    get: async (tenant, sha256) => read(() => body.get(tenant, sha256)?.[0] ?? null),
    tenantBytes: async (tenant) => read(() => tables.bytesOf(tenant)),
    sweepSome: (before) => writer.submit({ rows: SWEEP_ROWS, bytes: 0, apply: () => tables.sweepSome(before) }),
  };
}
