/** Subscriptions in SQLite: few rows, read at start, written when a receiver subscribes or a delivery advances. */
import { subscriptionExists } from '../errors.ts';
import type { Subscriptions } from '../ports/subscriptions.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

type Columns = [id: string, tenant: string, kind: string, body: string, state: string];

export function sqliteSubscriptions({ db, writer, read }: Connection): Subscriptions {
  const put = db.prepare('INSERT INTO subscriptions VALUES (NULL, ?, ?, ?, ?, ?)');
  const known = db.prepare('SELECT 1 FROM subscriptions WHERE id = ?');
  const all = query<Columns>(
    db,
    'SELECT id, tenant, kind, body, state FROM subscriptions WHERE kind = ? ORDER BY place',
  );
  const save = db.prepare('UPDATE subscriptions SET state = ? WHERE id = ?');
  const drop = db.prepare('DELETE FROM subscriptions WHERE tenant = ? AND id = ?');
  return {
    put: (record) =>
      writer.submit({
        rows: 1,
        bytes: record.body.length + record.state.length,
        prepare: () => {
          if (known.get(record.id) !== undefined) throw subscriptionExists(record);
        },
        apply: () => void put.run(record.id, record.tenant, record.kind, record.body, record.state),
      }),
    list: async (kind) =>
      read(() => all.all(kind).map(([id, tenant, of, body, state]) => ({ id, tenant, kind: of, body, state }))),
    saveState: (id, state) => writer.submit({ rows: 1, bytes: state.length, apply: () => void save.run(state, id) }),
    drop: (tenant, id) => writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, id).changes) > 0 }),
  };
}
