/** Records that end by themselves, such as sessions that were ended before their time, and sign-in links. */

export interface ExpiringRecords {
  /**
   * Replaces the record of the same kind and name, and deletes some of those whose time is over. Beyond `maxOfOwner` records of a
   * kind, the owner loses the one that would expire first, and of those the oldest.
   */
  put(record: ExpiringRecord, limits: { readonly now: number; readonly maxOfOwner: number }): Promise<void>;
  /** Null when there is none, also when its time is over. */
  get(key: ExpiringKey, now: number): Promise<ExpiringRecord | null>;
  /** Takes a record out: only the first caller gets it. */
  take(key: ExpiringKey, now: number): Promise<ExpiringRecord | null>;
  /** How many records of a kind an owner has whose time is not over. */
  count(kind: string, owner: string, now: number): Promise<number>;
}

export interface ExpiringKey {
  readonly kind: string;
  readonly name: string;
}

export interface ExpiringRecord extends ExpiringKey {
  /** Whose it is: a tenant, or a credential of one. */
  readonly owner: string;
  readonly body: string;
  readonly expiresAt: number;
}
