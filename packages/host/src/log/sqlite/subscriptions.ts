/** Subscriptions in SQLite: few rows, read at start and written when somebody subscribes or a delivery moved on. */
import type { DatabaseSync } from 'node:sqlite';
import type { Records } from '../ports/store.ts';
import type { SubscriptionRecord } from '../ports/subscriptions.ts';
import { subscriptionTaken } from '../refusals.ts';
import type { GroupCommit, Read } from './group-commit.ts';

type Subscriptions = Pick<Records, 'putSubscription' | 'subscriptions' | 'saveSubscriptionState' | 'dropSubscription'>;

export function sqliteSubscriptions(db: DatabaseSync, writer: GroupCommit, read: Read): Subscriptions {
  const put = db.prepare('INSERT INTO subscriptions VALUES (NULL, ?, ?, ?, ?, ?)');
  const known = db.prepare('SELECT 1 FROM subscriptions WHERE id = ?');
  const all = db.prepare('SELECT id, tenant, kind, body, state FROM subscriptions WHERE kind = ? ORDER BY place');
  const save = db.prepare('UPDATE subscriptions SET state = ? WHERE id = ?');
  const drop = db.prepare('DELETE FROM subscriptions WHERE tenant = ? AND id = ?');
  return {
    putSubscription: (record) =>
      writer.submit({
        rows: 1,
        bytes: record.body.length + record.state.length,
        prepare: () => {
          if (known.get(record.id) !== undefined) throw subscriptionTaken(record);
        },
        apply: () => void put.run(record.id, record.tenant, record.kind, record.body, record.state),
      }),
    subscriptions: async (kind) =>
      read(() => all.all(kind).map((found) => ({ ...found }) as unknown as SubscriptionRecord)),
    saveSubscriptionState: (id, state) =>
      writer.submit({ rows: 1, bytes: state.length, apply: () => void save.run(state, id) }),
    dropSubscription: (tenant, id) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, id).changes) > 0 }),
  };
}
