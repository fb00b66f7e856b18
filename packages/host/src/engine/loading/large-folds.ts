/** Few large runs of a tenant are folded for readers at a time: each takes megabytes before anybody has its state. */
import { invariant } from '@cairn/protocol';
import { TenantSlots } from '../../tenant-slots.ts';

/** A fold works whenever it has its turn of the event loop, so more of them would not be quicker. */
const AT_ONCE = 2;

/** Folds a run; null if it has more than so many pages of rows. */
type Fold<Folded> = (mostPages: number) => Promise<Folded | null>;

export class LargeFolds {
  readonly #slots = new TenantSlots(AT_ONCE);

  /** A run of one page is folded at once. A larger one begins anew when it may, so that nothing is held while it waits. */
  async take<Folded>(tenant: string, fold: Fold<Folded>): Promise<Folded> {
    const small = await fold(1);
    if (small !== null) return small;
    const release = await this.#slots.take(tenant);
    try {
      return whole(await fold(Number.POSITIVE_INFINITY));
    } finally {
      release();
    }
  }
}

/** What a fold without a bound gave. */
export function whole<Folded>(folded: Folded | null): Folded {
  invariant(folded !== null, 'fold-is-whole');
  return folded;
}
