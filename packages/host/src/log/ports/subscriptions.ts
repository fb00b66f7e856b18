/** Subscriptions: external receivers that are notified of a tenant's events. */

export interface Subscriptions {
  /** Fails with `conflict` when the id exists. */
  put(record: SubscriptionRecord): Promise<void>;
  /** All subscriptions of this kind, in insertion order. */
  list(kind: string): Promise<readonly SubscriptionRecord[]>;
  /** Does nothing when the subscription has been dropped. */
  saveState(id: string, state: string): Promise<void>;
  /** True when it existed. */
  drop(tenant: string, id: string): Promise<boolean>;
}

export interface SubscriptionRecord {
  readonly id: string;
  readonly tenant: string;
  readonly kind: string;
  /** The settings of the subscription, as JSON of the sender. */
  readonly body: string;
  /** The delivery progress, as JSON of the sender. */
  readonly state: string;
}
