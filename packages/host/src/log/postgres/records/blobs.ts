/** Blobs in Postgres: rows, so that the append that names a blob and the blob itself commit alike. */
import { invariant } from '@cairn/protocol';
import { blobHash } from '../../blob-hash.ts';
import { quotaExceeded } from '../../errors.ts';
import { type Blobs, MAX_BLOB_BYTES, type NewBlob, type OwnBytes } from '../../ports/blobs.ts';
import type { TenantBytes } from '../commit/facts.ts';
import type { Database } from '../database.ts';
import type { Readers } from '../readers.ts';

/** Blobs that one step of a sweep removes. */
const SWEPT = 64;

interface BlobPorts {
  readonly database: Database;
  readonly readers: Readers;
  readonly writer: number;
  /** What appends know of their tenants. */
  readonly bytes: TenantBytes;
}

export function postgresBlobs({ database, readers, writer, bytes }: BlobPorts): Blobs {
  return {
    put: async (blob) => {
      const { length } = blob.bytes;
      invariant(length > 0 && length <= MAX_BLOB_BYTES, 'blob-size', { bytes: length });
      const sha256 = blobHash(blob.bytes);
      await put(database, writer, { ...blob, sha256 });
      bytes.forget(blob.tenant);
      return { sha256, bytes: length };
    },
    get: async (tenant, sha256) => {
      const [found] = await readers
        .ofBlob(tenant, sha256)
        .rows<[Uint8Array]>(
          `SELECT body FROM cairn.blobs JOIN cairn.blob_bodies ON blob = key WHERE tenant = $1::text AND sha256 = $2::text`,
          [tenant, sha256],
        );
      return found === undefined ? null : ownBytes(found[0]);
    },
    tenantBytes: async (tenant) => {
      const [[found] = [0]] = await database.rows<[number]>(
        'SELECT coalesce(sum(blob_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
        [tenant],
      );
      return found;
    },
    sweepSome: (before) => sweepSome(database, writer, before),
  };
}

/** The driver hands out parts of a larger buffer. */
const ownBytes = (bytes: Uint8Array): OwnBytes => new Uint8Array(bytes);

function put(database: Database, writer: number, blob: NewBlob & { readonly sha256: string }): Promise<void> {
  const { tenant, sha256, bytes, at, maxTenantBytes } = blob;
  return database.transaction(async (queries) => {
    const touched = await queries.changed(
      'UPDATE cairn.blobs SET put_at = greatest(put_at, $3::bigint) WHERE tenant = $1::text AND sha256 = $2::text',
      [tenant, sha256, at],
    );
    if (touched > 0) return;
    if (maxTenantBytes !== undefined) {
      const [[used] = [0]] = await queries.rows<[number]>(
        'SELECT coalesce(sum(log_bytes + blob_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
        [tenant],
      );
      if (used + bytes.length > maxTenantBytes) throw quotaExceeded(tenant, used, maxTenantBytes);
    }
    const [added] = await queries.rows<[number]>(
      `INSERT INTO cairn.blobs (tenant, sha256, bytes, put_at, refs) VALUES ($1::text, $2::text, $3::bigint, $4::bigint, 0)
         ON CONFLICT (tenant, sha256) DO UPDATE SET put_at = greatest(blobs.put_at, excluded.put_at)
         RETURNING CASE WHEN xmax = 0 THEN key END`,
      [tenant, sha256, bytes.length, at],
    );
    // Null: another node put the same bytes at the same time.
    const key = added?.[0] ?? null;
    if (key === null) return;
    await queries.changed('INSERT INTO cairn.blob_bodies VALUES ($1::bigint, $2::bytea)', [key, bytes]);
    await addUsage(queries, { tenant, writer, bytes: bytes.length });
  });
}

function sweepSome(database: Database, writer: number, before: number): Promise<number> {
  return database.transaction(async (queries) => {
    const swept = await queries.rows<[key: number, tenant: string, bytes: number]>(
      `DELETE FROM cairn.blobs WHERE key IN (SELECT key FROM cairn.blobs WHERE refs = 0 AND put_at < $1::bigint
         ORDER BY key LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED) RETURNING key, tenant, bytes`,
      [before],
    );
    for (const [key, tenant, bytes] of swept) {
      await queries.changed('DELETE FROM cairn.blob_bodies WHERE blob = $1::bigint', [key]);
      await addUsage(queries, { tenant, writer, bytes: -bytes });
    }
    return swept.length;
  });
}

/** Counts bytes of a tenant's blobs, and of its events, on the row of this writer: the sum of all rows is what counts. */
export async function addUsage(
  queries: Pick<Database, 'changed'>,
  { tenant, writer, bytes, logBytes = 0 }: { tenant: string; writer: number; bytes: number; logBytes?: number },
): Promise<void> {
  await queries.changed(
    `INSERT INTO cairn.usage (tenant, writer, log_bytes, blob_bytes) VALUES ($1::text, $2::integer, $3::bigint, $4::bigint)
       ON CONFLICT (tenant, writer, lane) DO UPDATE SET log_bytes = usage.log_bytes + excluded.log_bytes,
         blob_bytes = usage.blob_bytes + excluded.blob_bytes`,
    [tenant, writer, logBytes, bytes],
  );
}
