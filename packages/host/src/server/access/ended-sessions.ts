/** The sessions and read tokens that somebody ended before their time, stored so that a restart does not bring them back. */
import { z } from 'zod';
import type { Checkpoints } from '../../log/ports/checkpoints.ts';

type Positions = Pick<Checkpoints, 'position' | 'putPosition'>;

/** The name under which the store keeps the list. */
const NAME = 'sessions.ended';

/** Beyond it, the tenant that has the most loses the one that would expire first, so that no tenant displaces others. */
const MAX_ENDED = 10_000;

const listShape = z.array(z.tuple([z.string(), z.number()]));

/** A session or read token of a tenant. */
export interface Endable {
  readonly tenant: string;
  readonly id: string;
}

/** What sessions and read tokens need of it. */
export type Ended = Pick<EndedSessions, 'has' | 'count' | 'add'>;

export class EndedSessions {
  readonly #store: Positions;
  readonly #now: () => number;
  /** When each of them would have expired, by its name. */
  readonly #ended: Map<string, number>;

  private constructor(store: Positions, now: () => number, ended: readonly (readonly [string, number])[]) {
    this.#store = store;
    this.#now = now;
    this.#ended = new Map(ended);
  }

  static async load(store: Positions, now: () => number): Promise<EndedSessions> {
    const stored = await store.position(NAME);
    return new EndedSessions(store, now, stored === null ? [] : listShape.parse(JSON.parse(stored)));
  }

  has(one: Endable): boolean {
    return this.#ended.has(endedName(one));
  }

  /** How many of a tenant have an id that begins like this. */
  count(begin: Endable): number {
    const prefix = endedName(begin);
    const now = this.#now();
    let found = 0;
    for (const [name, at] of this.#ended) if (at > now && name.startsWith(prefix)) found += 1;
    return found;
  }

  /** Resolves once it is stored. */
  async add(one: Endable, expiresAt: number): Promise<void> {
    const now = this.#now();
    this.#ended.set(endedName(one), expiresAt);
    for (const [name, at] of this.#ended) if (at <= now) this.#ended.delete(name);
    if (this.#ended.size > MAX_ENDED) this.#forgetOne();
    await this.#store.putPosition(NAME, JSON.stringify([...this.#ended]));
  }

  #forgetOne(): void {
    const byTenant = Map.groupBy(this.#ended, ([name]) => name.slice(0, name.lastIndexOf(' ')));
    const most = [...byTenant.values()].reduce((one, other) => (other.length > one.length ? other : one), []);
    const first = most.reduce((one, other) => (other[1] < one[1] ? other : one), most[0] ?? ['', 0]);
    this.#ended.delete(first[0]);
  }
}

/** The tenant as JSON, because it may contain any separator; an id contains no space. */
export const endedName = ({ tenant, id }: Endable): string => `${JSON.stringify(tenant)} ${id}`;
