/** The sessions and read tokens that somebody ended before their time, stored so that a restart does not bring them back. */
import { z } from 'zod';
import type { Checkpoints } from '../../log/ports/checkpoints.ts';

type Positions = Pick<Checkpoints, 'position' | 'putPosition'>;

/** The name under which the store keeps the list. */
const NAME = 'sessions.ended';

/** Beyond it, those that would expire first are forgotten. Sessions last an hour, so few are stored at a time. */
const MAX_ENDED = 10_000;

const listShape = z.array(z.tuple([z.string(), z.number()]));

export class EndedSessions {
  readonly #store: Positions;
  readonly #now: () => number;
  /** When each ended session would have expired, by its id. */
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

  has(id: string): boolean {
    return this.#ended.has(id);
  }

  /** How many of them have an id that begins like this. */
  count(prefix: string): number {
    const now = this.#now();
    let found = 0;
    for (const [id, at] of this.#ended) if (at > now && id.startsWith(prefix)) found += 1;
    return found;
  }

  /** Resolves once it is stored. */
  async add(id: string, expiresAt: number): Promise<void> {
    const now = this.#now();
    this.#ended.set(id, expiresAt);
    for (const [one, at] of this.#ended) if (at <= now) this.#ended.delete(one);
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.keys().next().value ?? '');
    await this.#store.putPosition(NAME, JSON.stringify([...this.#ended]));
  }
}
