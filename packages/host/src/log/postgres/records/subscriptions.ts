/** Subscriptions in Postgres: few rows, written when a receiver subscribes or a delivery advances. */
import { subscriptionExists } from '../../errors.ts';
import type { Subscriptions } from '../../ports/subscriptions.ts';
import type { Database } from '../database.ts';

type Columns = [id: string, tenant: string, kind: string, body: string, state: string];

export function postgresSubscriptions(database: Database): Subscriptions {
  return {
    put: async (record) => {
      const { id, tenant, kind, body, state } = record;
      const added = await database.changed(
        `INSERT INTO cairn.subscriptions (id, tenant, kind, body, state)
           VALUES ($1::text, $2::text, $3::text, $4::text, $5::text) ON CONFLICT (id) DO NOTHING`,
        [id, tenant, kind, body, state],
      );
      if (added === 0) throw subscriptionExists(record);
    },
    list: async (kind, tenant) => {
      const found = await database.rows<Columns>(
        `SELECT id, tenant, kind, body, state FROM cairn.subscriptions
           WHERE kind = $1::text AND ($2::text IS NULL OR tenant = $2::text) ORDER BY place`,
        [kind, tenant ?? null],
      );
      return found.map(([id, tenant, of, body, state]) => ({ id, tenant, kind: of, body, state }));
    },
    saveState: async (id, state, fence) => {
      await database.changed(
        `UPDATE cairn.subscriptions SET state = $1::text, fence = $3::bigint
           WHERE id = $2::text AND fence <= $3::bigint`,
        [state, id, fence],
      );
    },
    drop: async (tenant, id) => {
      const dropped = await database.changed(
        'DELETE FROM cairn.subscriptions WHERE tenant = $1::text AND id = $2::text',
        [tenant, id],
      );
      return dropped > 0;
    },
  };
}
