/** Packs in Postgres. Keeps every version ever installed, so that a version never changes its meaning. */
import { packVersionExists } from '../../errors.ts';
import type { PackRecord, Packs } from '../../ports/packs.ts';
import { type PackColumns, packOf } from '../../record-columns.ts';
import type { Database } from '../database.ts';
import { lockKey } from '../lock-key.ts';

export function postgresPacks(database: Database): Packs {
  return {
    put: (record) => put(database, record),
    list: async (tenant) => {
      const found = await database.rows<PackColumns>(
        `SELECT tenant, name, version, hash, installed_at, body FROM cairn.packs WHERE place IN
           (SELECT max(place) FROM cairn.packs WHERE tenant = $1::text AND NOT is_removed GROUP BY name) ORDER BY name`,
        [tenant],
      );
      return found.map(packOf);
    },
    drop: async (tenant, name) => {
      const removed = await database.changed(
        `UPDATE cairn.packs SET is_removed = true, body = '{}' WHERE tenant = $1::text AND name = $2::text AND NOT is_removed`,
        [tenant, name],
      );
      return removed > 0;
    },
  };
}

/** A version that is put again counts as the last installed: it gets a new place. */
function put(database: Database, record: PackRecord): Promise<void> {
  const { tenant, name, version, hash, installedAt, body } = record;
  return database.transaction(async (queries) => {
    const lock = lockKey(`pack ${JSON.stringify([tenant, name])}`);
    await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [lock]);
    const key = [tenant, name, version];
    const where = 'tenant = $1::text AND name = $2::text AND version = $3::text';
    const [known] = await queries.rows<[string]>(`SELECT hash FROM cairn.packs WHERE ${where}`, key);
    if (known !== undefined && known[0] !== hash) throw packVersionExists(record, known[0]);
    await queries.changed(`DELETE FROM cairn.packs WHERE ${where}`, key);
    // Nobody reads the body of a version that another one replaced, or that was removed.
    await queries.changed("UPDATE cairn.packs SET body = '{}' WHERE tenant = $1::text AND name = $2::text", [
      tenant,
      name,
    ]);
    await queries.changed(
      `INSERT INTO cairn.packs (tenant, name, version, hash, installed_at, body, is_removed)
         VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, false)`,
      [...key, hash, installedAt, body],
    );
  });
}
