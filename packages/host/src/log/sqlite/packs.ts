/** Packs in SQLite. Keeps every version ever installed, so that a version never changes its meaning. */
import { packVersionExists } from '../errors.ts';
import type { Packs } from '../ports/packs.ts';
import { type PackColumns, packOf } from '../record-columns.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

export function sqlitePacks({ db, writer, read }: Connection): Packs {
  const known = query<[hash: string]>(db, 'SELECT hash FROM packs WHERE tenant = ? AND name = ? AND version = ?');
  // A version that is put again counts as the last installed: it gets a new place.
  const put = db.prepare('INSERT OR REPLACE INTO packs VALUES (NULL, ?, ?, ?, ?, ?, ?, 0)');
  // Nobody reads the body of a version that another one replaced, or that was removed.
  const empty = db.prepare("UPDATE packs SET body = '{}' WHERE tenant = ? AND name = ?");
  const all = query<PackColumns>(
    db,
    `SELECT tenant, name, version, hash, installed_at, body FROM packs WHERE place IN
       (SELECT max(place) FROM packs WHERE tenant = ? AND removed = 0 GROUP BY name) ORDER BY name`,
  );
  const drop = db.prepare("UPDATE packs SET removed = 1, body = '{}' WHERE tenant = ? AND name = ? AND removed = 0");
  return {
    put: (record) =>
      writer.submit({
        rows: 1,
        bytes: record.body.length,
        prepare: () => {
          const hash = known.get(record.tenant, record.name, record.version)?.[0];
          if (hash !== undefined && hash !== record.hash) throw packVersionExists(record, hash);
        },
        apply: () => {
          const { tenant, name, version, hash, installedAt, body } = record;
          empty.run(tenant, name);
          put.run(tenant, name, version, hash, installedAt, body);
        },
      }),
    list: async (tenant) => read(() => all.all(tenant).map(packOf)),
    drop: (tenant, name) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, name).changes) > 0 }),
  };
}
