import { subscriptionExists } from '../errors.ts';
import type { SubscriptionRecord, Subscriptions } from '../ports/subscriptions.ts';
import type { Tables } from './tables.ts';

export function inMemorySubscriptions(tables: Tables): Subscriptions {
  const subscriptions = new Map<string, SubscriptionRecord>();
  return {
    async put(record) {
      tables.assertOpen();
      if (subscriptions.has(record.id)) throw subscriptionExists(record);
      subscriptions.set(record.id, record);
    },
    async list(kind) {
      tables.assertOpen();
      return [...subscriptions.values()].filter((one) => one.kind === kind);
    },
    async saveState(id, state) {
      tables.assertOpen();
      const kept = subscriptions.get(id);
      if (kept !== undefined) subscriptions.set(id, { ...kept, state });
    },
    async drop(tenant, id) {
      tables.assertOpen();
      return subscriptions.get(id)?.tenant === tenant && subscriptions.delete(id);
    },
  };
}
