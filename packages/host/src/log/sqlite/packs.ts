/** Packs of tenants in SQLite: every version that was ever installed, so that a version never comes to mean something else. */
import type { DatabaseSync } from 'node:sqlite';
import type { PackRecord } from '../ports/packs.ts';
import type { Records } from '../ports/store.ts';
import { packVersionTaken } from '../refusals.ts';
import type { GroupCommit, Read } from './group-commit.ts';

const COLUMNS = 'tenant, name, version, hash, installed_at AS installedAt, body';

export function sqlitePacks(
  db: DatabaseSync,
  writer: GroupCommit,
  read: Read,
): Pick<Records, 'putPack' | 'packs' | 'dropPack'> {
  const known = db.prepare('SELECT hash FROM packs WHERE tenant = ? AND name = ? AND version = ?');
  // Put again, a version is the one installed last: it gets a new place.
  const put = db.prepare('INSERT OR REPLACE INTO packs VALUES (NULL, ?, ?, ?, ?, ?, ?, 0)');
  const all = db.prepare(
    `SELECT ${COLUMNS} FROM packs WHERE place IN
       (SELECT max(place) FROM packs WHERE tenant = ? AND removed = 0 GROUP BY name) ORDER BY name`,
  );
  const drop = db.prepare('UPDATE packs SET removed = 1 WHERE tenant = ? AND name = ? AND removed = 0');
  return {
    putPack: (record) =>
      writer.submit({
        rows: 1,
        bytes: record.body.length,
        prepare: () => {
          const hash = known.get(record.tenant, record.name, record.version)?.hash as string | undefined;
          if (hash !== undefined && hash !== record.hash) throw packVersionTaken(record, hash);
        },
        apply: () => {
          const { tenant, name, version, hash, installedAt, body } = record;
          put.run(tenant, name, version, hash, installedAt, body);
        },
      }),
    packs: async (tenant) => read(() => all.all(tenant).map((found) => ({ ...found }) as unknown as PackRecord)),
    dropPack: (tenant, name) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, name).changes) > 0 }),
  };
}
