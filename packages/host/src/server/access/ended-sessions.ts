/**
 * The sessions and read tokens that were ended before their time. They are in the store and are read at each use, so
 * that they are over on every node, and after a restart.
 */
import type { ExpiringKey, ExpiringRecords } from '../../log/ports/expiring.ts';

/** Beyond it, the tenant loses the one that would expire first; no tenant displaces those of others. */
const MAX_PER_TENANT = 10_000;

/** A session or read token of a tenant. */
export interface Endable {
  readonly tenant: string;
  readonly id: string;
}

export type EndableKind = 'ended-session' | 'revoked-token';

/** What sessions and read tokens need of it. */
export type Ended = Pick<EndedSessions, 'has' | 'count' | 'add'>;

export class EndedSessions {
  readonly #store: ExpiringRecords;
  readonly #now: () => number;

  constructor(store: ExpiringRecords, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async has(one: Endable): Promise<boolean> {
    return (await this.#store.get(keyOf(one), this.#now())) !== null;
  }

  count(kind: EndableKind, tenant: string): Promise<number> {
    return this.#store.count(kind, tenant, this.#now());
  }

  /** Resolves once it is stored. */
  add(one: Endable, expiresAt: number): Promise<void> {
    const record = { ...keyOf(one), owner: one.tenant, body: '', expiresAt };
    return this.#store.put(record, { now: this.#now(), maxOfOwner: MAX_PER_TENANT });
  }
}

/** Marks the id of a read token, so that a read token cannot end a session. */
export const TOKEN_PREFIX = 'read:';

const keyOf = (one: Endable): ExpiringKey & { readonly kind: EndableKind } => ({
  kind: one.id.startsWith(TOKEN_PREFIX) ? 'revoked-token' : 'ended-session',
  name: endedName(one),
});

/** The tenant as JSON, because it may contain any separator; an id contains no space. */
export const endedName = ({ tenant, id }: Endable): string => `${JSON.stringify(tenant)} ${id}`;
