/** A file of a gigabyte is sixteen thousand blobs, so that each is put with one statement. */
import { expect, onTestFinished, test } from 'vitest';
import { TenantBytes } from '../commit/facts.ts';
import { connect, Database, type Queries } from '../database.ts';
import { KnownTenants } from '../known-tenants.ts';
import { Readers } from '../readers.ts';
import { freshDatabase } from '../server.kit.ts';
import { postgresBlobs } from './blobs.ts';

class CountingDatabase extends Database {
  statements = 0;

  override transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return super.transaction(({ rows, changed }) =>
      work({
        rows: (text, values) => {
          this.statements += 1;
          return rows(text, values);
        },
        changed: (text, values) => {
          this.statements += 1;
          return changed(text, values);
        },
      }),
    );
  }
}

test('a blob is put with one statement, whether it is new, known or too much', { timeout: 60_000 }, async () => {
  const pool = connect({ url: await freshDatabase(), connections: 1 });
  onTestFinished(() => pool.end(0));
  const database = new CountingDatabase(pool);
  const tenants = new KnownTenants();
  const readers = new Readers({ each: 1, together: 1, database, tenants, nextTurn: setImmediate });
  const blobs = postgresBlobs({ database, readers, writer: 1, bytes: new TenantBytes() });
  const put = (text: string, at: number) =>
    blobs.put({ tenant: 't', bytes: new TextEncoder().encode(text), at, maxTenantBytes: 8 });
  const { sha256 } = await put('abcde', 1);
  await put('abcde', 2);
  await expect(put('fghij', 3)).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(database.statements).toBe(3);
  expect(new TextDecoder().decode((await blobs.get('t', sha256)) ?? new Uint8Array())).toBe('abcde');
  expect(await blobs.tenantBytes('t')).toBe(5);
  expect(await database.rows('SELECT put_at FROM cairn.blobs')).toEqual([[2]]);
});
