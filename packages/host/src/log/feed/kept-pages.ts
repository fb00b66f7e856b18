/**
 * Pages of the log that were read for one subscriber and are kept a while for others behind it: after a restart, a
 * thousand clients of a context read the same rows. Each page is read and rendered once.
 */
import { LruMap } from '../../lru-map.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import { Ring, type Stretch, type Wanted } from './ring.ts';

/** Of all contexts together, in characters of bodies. The oldest page goes first. */
const MAX_SIZE = 8_388_608;
const MAX_PAGES = 64;

/** Texts that one page remembers: of so many lenses, from so many places. */
const MAX_LENSES = 4;
const MAX_STRETCHES = 32;

const UNBOUNDED = { events: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };

/** Consecutive rows of a range. */
export class KeptPage {
  /** The range, and which texts of its rows were read. */
  readonly view: string;
  /** It holds what follows this position, up to its last row. */
  readonly after: number;
  readonly rows: readonly Row[];
  readonly size: number;
  /** The rows at places from 0 on, with the texts that were made of them. */
  readonly #ring = new Ring(UNBOUNDED);
  /** By lens and place. Readers that come from the page before begin at the first place, so that most stretches are shared. */
  readonly #stretches = new LruMap<string, Map<number, Stretch>>(MAX_LENSES);
  readonly #positionOf: (row: Row) => number;

  constructor(view: string, { after, rows, positionOf }: ReadPage) {
    this.view = view;
    this.after = after;
    this.rows = rows;
    this.#positionOf = positionOf;
    this.#ring.isShared = true;
    this.#ring.push(rows);
    this.size = rows.reduce((size, row) => size + bodySize(row), 0);
  }

  /** The position of its last row. */
  get through(): number {
    const last = this.rows.at(-1);
    return last === undefined ? this.after : this.#positionOf(last);
  }

  /** The next of it for a subscriber, up to about `max` characters. */
  read(wanted: Wanted, max: number): Stretch {
    const from = this.placeAfter(wanted.after);
    const { key } = wanted.lens;
    if (key === null) return this.#ring.read(from, wanted, max);
    const shown = this.#stretches.get(key) ?? this.#stretches.set(key, new Map<number, Stretch>());
    const known = shown.get(from);
    if (known !== undefined) return known;
    const stretch = this.#ring.read(from, wanted, max);
    if (shown.size < MAX_STRETCHES) shown.set(from, stretch);
    return stretch;
  }

  /** The place of the first row after a position. */
  placeAfter(position: number): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.rows[middle];
      if (row !== undefined && this.#positionOf(row) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export interface ReadPage {
  readonly after: number;
  readonly rows: readonly Row[];
  readonly positionOf: (row: Row) => number;
}

export class KeptPages {
  /** Oldest first. */
  readonly #pages = new Set<KeptPage>();
  /** Reads in progress, by view and position. */
  readonly #reads = new Map<string, Promise<unknown>>();
  #size = 0;

  /** The page with the rows that follow a position; null when none is kept. */
  find(view: string, position: number): KeptPage | null {
    for (const page of this.#pages) {
      if (page.after <= position && page.view === view && position < page.through) return page;
    }
    return null;
  }

  keep(page: KeptPage): void {
    this.#pages.add(page);
    this.#size += page.size;
    for (const oldest of this.#pages) {
      if (this.#pages.size <= MAX_PAGES && this.#size <= MAX_SIZE) return;
      this.#drop(oldest);
    }
  }

  /** The context has no subscribers any more. */
  forget(contextId: string): void {
    for (const page of this.#pages) if (page.rows[0]?.contextId === contextId) this.#drop(page);
  }

  /** Rows were purged, which may be part of several contexts. */
  clear(): void {
    this.#pages.clear();
    this.#size = 0;
  }

  /** The read of another subscriber at the same place, if there is one. */
  reading(view: string, position: number): Promise<unknown> | undefined {
    return this.#reads.get(`${view} ${position}`);
  }

  /** Lets others at the same place wait for a read, which keeps what it brings. */
  async announce<Read>(view: string, position: number, read: Promise<Read>): Promise<Read> {
    const key = `${view} ${position}`;
    this.#reads.set(key, read);
    try {
      return await read;
    } finally {
      this.#reads.delete(key);
    }
  }

  #drop(page: KeptPage): void {
    this.#pages.delete(page);
    this.#size -= page.size;
  }
}
