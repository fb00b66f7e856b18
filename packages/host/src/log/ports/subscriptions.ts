/** Subscriptions: external receivers that are notified of a tenant's events. */

export interface Subscriptions {
  /** Fails with `conflict` when the id exists. */
  put(record: SubscriptionRecord): Promise<void>;
  /** The subscriptions of this kind, of all tenants or of one, in insertion order. */
  list(kind: string, tenant?: string): Promise<readonly SubscriptionRecord[]>;
  /**
   * The fence is that of the lease under which the writer delivers. Does nothing when a state with a greater fence was
   * saved, or when the subscription has been dropped.
   */
  saveState(id: string, state: string, fence: number): Promise<void>;
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
