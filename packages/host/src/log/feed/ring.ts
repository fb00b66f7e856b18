/** The newest events of one context as frames, built once and shared by everyone who follows it. */
import type { RunId } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';
import { endsRun } from '../run-index.ts';
import { Instants, isUrgent, type Shown, shownText } from './frame.ts';
import type { Lens } from './lens.ts';

export interface RingLimits {
  readonly events: number;
  /** Characters of bodies. */
  readonly size: number;
}

interface Slot {
  readonly row: Row;
  /** Its frame under its own name, once somebody wanted it: nearly all readers show it so. */
  frame: string | null;
}

/** What a stretch of the ring holds for one reader. */
export interface Stretch extends Shown {
  /** The place after the stretch. */
  readonly end: number;
  /** seq of the newest event of the reader's run in it. */
  readonly seq: number;
  readonly terminal: boolean;
}

/** Which events a reader wants: those of its run after a seq, as its lens shows them. */
export interface Wanted {
  readonly runId: RunId;
  readonly after: number;
  readonly audience: 'client' | undefined;
  readonly lens: Lens;
}

/** Kinds of wishes whose last stretch is remembered; more of them at once read their frames again. */
const MAX_REMEMBERED = 8;

interface Remembered {
  readonly from: number;
  readonly wanted: Wanted;
  readonly stretch: Stretch;
  /** It ended before the ring did, so that what came since does not belong to it. */
  readonly isFull: boolean;
}

/** For all rings: runs that go on side by side share the work of a second. */
const instants = new Instants();

/** Places count from 0 for the life of the ring; those before `start` have fallen off. */
export class Ring {
  readonly #limits: RingLimits;
  #slots: Slot[] = [];
  /** How many of `#slots` have fallen off and wait to be cut away together. */
  #gone = 0;
  #cut = 0;
  #size = 0;
  /** More than one reader is at it, so that what one is shown is worth remembering for the others. */
  isShared = false;
  /** The last stretch of each kind of wish: readers at the same place get the same text. */
  #last: Remembered[] = [];

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get start(): number {
    return this.#cut + this.#gone;
  }

  get end(): number {
    return this.#cut + this.#slots.length;
  }

  /** Characters of the bodies it keeps. */
  get size(): number {
    return this.#size;
  }

  push(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#slots.push({ row, frame: null });
      this.#size += weight(row);
    }
    while (this.end - this.start > this.#limits.events || (this.#size > this.#limits.size && this.start < this.end)) {
      this.#letGo();
    }
    this.#cutAway();
  }

  /** What lies before this place is needed by nobody: kept on, it would only grow old in the heap. */
  trim(place: number): void {
    if (place <= this.start) return;
    if (this.#last.length > 0) this.#last = [];
    if (place < this.end) {
      while (this.start < place) this.#letGo();
      this.#cutAway();
      return;
    }
    this.#cut = this.end;
    this.#slots = [];
    this.#gone = 0;
    this.#size = 0;
  }

  #letGo(): void {
    this.#size -= weight(this.#slots[this.#gone]!.row);
    this.#gone += 1;
  }

  #cutAway(): void {
    if (this.#gone * 2 <= this.#slots.length) return;
    this.#slots = this.#gone === this.#slots.length ? [] : this.#slots.slice(this.#gone);
    this.#cut += this.#gone;
    this.#gone = 0;
  }

  /** What lies from a place on, up to about `max` characters; readers at the same place share one text. */
  read(from: number, wanted: Wanted, max: number): Stretch {
    if (!this.isShared) return this.#collect(from, wanted, max);
    const kind = this.#last.findIndex((last) => sameKind(last.wanted, wanted));
    const last = this.#last[kind];
    if (last !== undefined && isSame(last, from, wanted) && (last.isFull || last.stretch.end === this.end)) {
      return last.stretch;
    }
    const stretch = this.#collect(from, wanted, max);
    const remembered = { from, wanted, stretch, isFull: stretch.end < this.end };
    if (kind >= 0) this.#last[kind] = remembered;
    else if (this.#last.length < MAX_REMEMBERED) this.#last.push(remembered);
    return stretch;
  }

  #collect(from: number, { runId, after, audience, lens }: Wanted, max: number): Stretch {
    let text = '';
    let upTo = -1;
    let urgent = false;
    let seq = after;
    let terminal = false;
    let place = from;
    for (; place < this.end && text.length < max && !terminal; place += 1) {
      const slot = this.#slots[place - this.#cut]!;
      const { row } = slot;
      if (row.runId !== runId) continue;
      // The end of a run ends its reader also when it asked for places that the run never reached.
      terminal = endsRun(row.type);
      if (row.seq <= after) continue;
      seq = row.seq;
      if (audience !== undefined && row.audience !== audience) continue;
      const name = lens.nameOf(row.type);
      if (name === null) continue;
      if (text !== '' && lens.form === 'documents') text += ',';
      text += this.#textOf(slot, name, lens.form);
      upTo = seq;
      urgent ||= terminal || isUrgent(row.type);
    }
    return { text, upTo, urgent, end: place, seq, terminal };
  }

  #textOf(slot: Slot, name: string, form: Lens['form']): string {
    const { row } = slot;
    const isPlain = form === 'frames' && name === row.type;
    if (isPlain && slot.frame !== null) return slot.frame;
    const text = shownText(row, name, form, instants.textOf(row.at));
    // A frame that nobody else wants would only grow old here.
    if (isPlain && this.isShared) slot.frame = text;
    return text;
  }
}

const weight = (row: Row): number => row.payload.length + (row.task?.length ?? 0);

const sameKind = (a: Wanted, b: Wanted): boolean =>
  a.runId === b.runId && a.audience === b.audience && a.lens.key === b.lens.key;

const isSame = (last: Remembered, from: number, wanted: Wanted): boolean =>
  last.from === from && last.wanted.after === wanted.after;
