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

/** One statement: a file of a gigabyte is sixteen thousand blobs. Another node may put the same bytes at the same time. */
const PUT = `WITH touched AS (
    UPDATE cairn.blobs SET put_at = greatest(put_at, $4::bigint) WHERE tenant = $1::text AND sha256 = $2::text RETURNING key),
  used AS (SELECT coalesce(sum(log_bytes + blob_bytes), 0)::bigint AS bytes FROM cairn.usage WHERE tenant = $1::text),
  put AS (INSERT INTO cairn.blobs (tenant, sha256, bytes, put_at, refs)
    SELECT $1::text, $2::text, $3::bigint, $4::bigint, 0 FROM used
      WHERE NOT EXISTS (SELECT 1 FROM touched) AND ($5::bigint IS NULL OR used.bytes + $3::bigint <= $5::bigint)
    ON CONFLICT (tenant, sha256) DO UPDATE SET put_at = greatest(blobs.put_at, excluded.put_at)
    RETURNING CASE WHEN xmax = 0 THEN key END AS key),
  bodies AS (INSERT INTO cairn.blob_bodies SELECT key, $6::bytea FROM put WHERE key IS NOT NULL),
  counted AS (INSERT INTO cairn.usage (tenant, writer, log_bytes, blob_bytes)
    SELECT $1::text, $7::integer, 0, $3::bigint FROM put WHERE key IS NOT NULL
    ON CONFLICT (tenant, writer, lane) DO UPDATE SET blob_bytes = usage.blob_bytes + excluded.blob_bytes)
  SELECT EXISTS (SELECT 1 FROM touched) OR EXISTS (SELECT 1 FROM put), bytes FROM used`;

function put(database: Database, writer: number, blob: NewBlob & { readonly sha256: string }): Promise<void> {
  const { tenant, sha256, bytes, at, maxTenantBytes } = blob;
  const values = [tenant, sha256, bytes.length, at, maxTenantBytes ?? null, bytes, writer];
  return database.transaction(async (queries) => {
    const [[isPut, used] = [false, 0]] = await queries.rows<[boolean, number]>(PUT, values);
    if (!isPut) throw quotaExceeded(tenant, used, maxTenantBytes ?? 0);
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
