/** All pending operations. The seed alone decides their order. */
import type { Random } from '../../packages/host/test/kit/random.ts';

/** A write to the store, its reply, a commit notice to a node, or the end of a step. */
export const pendingKinds = ['write', 'reply', 'notice', 'step'] as const;
export type PendingKind = (typeof pendingKinds)[number];

export interface Pending {
  readonly kind: PendingKind;
  /** The node's process lifetime it belongs to. A crash of that node drops it. */
  readonly life: string;
  readonly label: string;
  readonly happen: () => void;
}

export class Schedule {
  readonly #pending: Record<PendingKind, Pending[]> = { write: [], reply: [], notice: [], step: [] };

  add(pending: Pending): void {
    this.#pending[pending.kind].push(pending);
  }

  count(kind: PendingKind): number {
    return this.#pending[kind].length;
  }

  has(kind: PendingKind, life: string): boolean {
    return this.#pending[kind].some((pending) => pending.life === life);
  }

  get size(): number {
    return pendingKinds.reduce((sum, kind) => sum + this.#pending[kind].length, 0);
  }

  /** Takes a random pending operation. Request order does not matter, except that notices to a node stay in order. */
  take(kind: PendingKind, random: Random): Pending | null {
    const list = this.#pending[kind];
    const chosen = list.length === 0 ? undefined : list[random.below(list.length)];
    if (chosen === undefined) return null;
    const place = kind === 'notice' ? list.findIndex(({ life }) => life === chosen.life) : list.indexOf(chosen);
    return list.splice(place, 1)[0] ?? null;
  }

  /** Takes the oldest operation of the first kind that has one, for a phase without overtaking. */
  takeOldest(): Pending | null {
    for (const kind of pendingKinds) {
      const first = this.#pending[kind].shift();
      if (first !== undefined) return first;
    }
    return null;
  }

  /** Takes all operations of one kind that belong to one life. */
  takeAll(kind: PendingKind, life: string): readonly Pending[] {
    const list = this.#pending[kind];
    const taken = list.filter((pending) => pending.life === life);
    if (taken.length > 0) this.#pending[kind] = list.filter((pending) => pending.life !== life);
    return taken;
  }

  holds(pending: Pending): boolean {
    return this.#pending[pending.kind].includes(pending);
  }

  remove(pending: Pending): void {
    const list = this.#pending[pending.kind];
    const place = list.indexOf(pending);
    if (place >= 0) list.splice(place, 1);
  }
}
