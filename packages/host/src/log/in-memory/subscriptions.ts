import { subscriptionExists } from '../errors.ts';
import type { SubscriptionRecord, Subscriptions } from '../ports/subscriptions.ts';
import type { Tables } from './tables.ts';

export function inMemorySubscriptions(tables: Tables): Subscriptions {
  const subscriptions = new Map<string, SubscriptionRecord>();
  /** Of the state that was saved last. */
  const fences = new Map<string, number>();
  return {
    async put(record) {
      tables.assertOpen();
      if (subscriptions.has(record.id)) throw subscriptionExists(record);
      subscriptions.set(record.id, record);
    },
    async list(kind, tenant) {
      tables.assertOpen();
      return [...subscriptions.values()].filter(
        (one) => one.kind === kind && (tenant === undefined || one.tenant === tenant),
      );
    },
    async saveState(id, state, fence) {
      tables.assertOpen();
      const kept = subscriptions.get(id);
      if (kept === undefined || (fences.get(id) ?? 0) > fence) return;
      fences.set(id, fence);
      subscriptions.set(id, { ...kept, state });
    },
    async drop(tenant, id) {
      tables.assertOpen();
      if (subscriptions.get(id)?.tenant !== tenant) return false;
      fences.delete(id);
      return subscriptions.delete(id);
    },
  };
}
