/** Subscriptions in SQLite: few rows, read at start, written when a receiver subscribes or a delivery advances. */
import { subscriptionExists } from '../errors.ts';
import type { Subscriptions } from '../ports/subscriptions.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

type Columns = [id: string, tenant: string, kind: string, body: string, state: string];

export function sqliteSubscriptions({ db, writer, read }: Connection): Subscriptions {
  const put = db.prepare('INSERT INTO subscriptions (id, tenant, kind, body, state) VALUES (?, ?, ?, ?, ?)');
  const known = db.prepare('SELECT 1 FROM subscriptions WHERE id = ?');
  const all = query<Columns>(
    db,
    'SELECT id, tenant, kind, body, state FROM subscriptions WHERE kind = ?1 AND (?2 IS NULL OR tenant = ?2) ORDER BY place',
  );
  const save = db.prepare('UPDATE subscriptions SET state = ?, fence = ? WHERE id = ? AND fence <= ?');
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
    list: async (kind, tenant) =>
      read(() =>
        all.all(kind, tenant ?? null).map(([id, tenant, of, body, state]) => ({ id, tenant, kind: of, body, state })),
      ),
    saveState: (id, state, fence) =>
      writer.submit({ rows: 1, bytes: state.length, apply: () => void save.run(state, fence, id, fence) }),
    drop: (tenant, id) => writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, id).changes) > 0 }),
  };
}
