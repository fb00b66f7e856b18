/** Subscriptions: receivers outside the host that are notified of a tenant's events. */

export interface Subscriptions {
  /** `conflict` when the id exists. */
  put(record: SubscriptionRecord): Promise<void>;
  /** All of this kind, in the order in which they were put. */
  list(kind: string): Promise<readonly SubscriptionRecord[]>;
  /** Does nothing when the subscription was dropped meanwhile. */
  saveState(id: string, state: string): Promise<void>;
  /** True when it existed. */
  drop(tenant: string, id: string): Promise<boolean>;
}

export interface SubscriptionRecord {
  readonly id: string;
  readonly tenant: string;
  readonly kind: string;
  /** What was agreed: JSON of the sender. */
  readonly body: string;
  /** The progress of delivery: JSON of the sender. */
  readonly state: string;
}
