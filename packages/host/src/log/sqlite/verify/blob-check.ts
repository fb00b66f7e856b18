/** Checks blobs: their bytes against their names, and the references to them against the events. */
import type { DatabaseSync } from 'node:sqlite';
import { artifactChanges, blobsOf } from '../../artifact-changes.ts';
import { blobHash } from '../../blob-hash.ts';
import type { Row } from '../../ports/rows.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

export interface BlobCheck {
  /** A new walk over the own rows of a run. */
  walk(tenant: string, key: number, report: ReportProblem): { add(row: Row): void; end(): void };
  folder(report: ReportProblem): void;
}

export function blobCheck(db: DatabaseSync): BlobCheck {
  if (!hasBlobs(db)) return { walk: () => ({ add: () => undefined, end: () => undefined }), folder: () => undefined };
  const named = query<[blob: number]>(
    db,
    'SELECT b.key FROM blobs b JOIN blob_refs r ON r.blob = b.key WHERE r.run = ? AND b.tenant = ? AND b.sha256 = ?',
  );
  const count = query<[refs: number]>(db, 'SELECT count(*) FROM blob_refs WHERE run = ?');
  const blobs = query<[sha256: string, bytes: number, putAt: number, body: Uint8Array<ArrayBuffer> | null]>(
    db,
    'SELECT sha256, bytes, put_at, body FROM blobs LEFT JOIN blob_bodies ON blob = key',
  );
  const miscounted = query<[sha256: string]>(
    db,
    'SELECT sha256 FROM blobs b WHERE refs <> (SELECT count(*) FROM blob_refs r WHERE r.blob = b.key)',
  );
  const loose = query<[found: string, many: number]>(
    db,
    `SELECT 'references to blobs name no blob', count(*) FROM blob_refs WHERE blob NOT IN (SELECT key FROM blobs)
     UNION ALL SELECT 'references to blobs belong to no run', count(*) FROM blob_refs
       WHERE run NOT IN (SELECT key FROM runs UNION ALL SELECT key FROM purged_runs)
     UNION ALL SELECT 'bodies of blobs belong to no blob', count(*) FROM blob_bodies WHERE blob NOT IN (SELECT key FROM blobs)
     UNION ALL SELECT 'tenants have a wrong number of bytes in blobs', count(*) FROM
       (SELECT tenant, sum(bytes) AS bytes FROM (
          SELECT tenant, bytes FROM blobs UNION ALL SELECT tenant, -bytes FROM blob_usage) GROUP BY tenant) WHERE bytes <> 0`,
  );
  return {
    walk(tenant, key, report) {
      const found = new Set<number>();
      return {
        add(row) {
          for (const sha256 of blobsOf(artifactChanges([row]))) {
            const [blob] = named.get(key, tenant, sha256) ?? [];
            if (blob !== undefined) found.add(blob);
            else report(row.seq, `event ${row.seq} names the blob ${sha256}, which is not kept for it`);
          }
        },
        end() {
          if ((count.get(key)?.[0] ?? 0) > found.size) report(null, 'the run holds blobs that no event of it names');
        },
      };
    },
    folder(report) {
      for (const [sha256, bytes, , body] of blobs.iterate()) {
        if (body === null || body.length !== bytes || blobHash(body) !== sha256)
          report(null, `the bytes of the blob ${sha256} are missing or changed`);
      }
      for (const [sha256] of miscounted.iterate()) report(null, `the references to the blob ${sha256} are miscounted`);
      for (const [what, many] of loose.iterate()) if (many > 0) report(null, `${many} ${what}`);
    },
  };
}

/** A folder that no host has opened since there are blobs has no table for them. */
const hasBlobs = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'blobs'").get() !== undefined;
