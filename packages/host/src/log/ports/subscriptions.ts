/** Subscriptions: who outside is told of events. */
/** Somebody outside who is told of a tenant's events: what was agreed, and how far the telling got. Both are JSON of the teller. */
export interface SubscriptionRecord {
  readonly id: string;
  readonly tenant: string;
  readonly kind: string;
  readonly body: string;
  readonly state: string;
}
