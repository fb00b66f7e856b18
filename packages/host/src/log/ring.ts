/** The newest events of one context as frames, built once and shared by everyone who follows it. */
import { isoTime, type RunId } from '@cairn/protocol';
import { sseFrame } from './frame.ts';
import type { Row } from './port.ts';
import { endsRun } from './run-index.ts';

export interface RingLimits {
  readonly events: number;
  /** Characters of bodies. */
  readonly size: number;
}

interface Slot {
  readonly row: Row;
  frame: string | null;
}

/** What a stretch of the ring holds for one reader. */
export interface Stretch {
  /** The frames of the reader's events, as one text. */
  readonly text: string;
  /** The place after the stretch. */
  readonly end: number;
  /** seq of the newest event of the reader's run in it. */
  readonly seq: number;
  readonly terminal: boolean;
}

/** Which events a reader wants: those of its run after a seq. */
export interface Wanted {
  readonly runId: RunId;
  readonly after: number;
  readonly audience: 'client' | undefined;
}

/** Places count from 0 for the life of the ring; those before `start` have fallen off. */
export class Ring {
  readonly #limits: RingLimits;
  #slots: Slot[] = [];
  /** How many of `#slots` have fallen off and wait to be cut away together. */
  #gone = 0;
  #cut = 0;
  #size = 0;
  /** The newest instant as text: rows of one commit share it. */
  #at = Number.NaN;
  #timestamp = '';
  #last: { readonly from: number; readonly wanted: Wanted; readonly stretch: Stretch } | null = null;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get start(): number {
    return this.#cut + this.#gone;
  }

  get end(): number {
    return this.#cut + this.#slots.length;
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
    while (this.start < place) this.#letGo();
    this.#cutAway();
    this.#last = null;
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
    const last = this.#last;
    if (last !== null && last.from === from && last.stretch.end === this.end && sameWish(last.wanted, wanted)) {
      return last.stretch;
    }
    const stretch = this.#collect(from, wanted, max);
    this.#last = { from, wanted, stretch };
    return stretch;
  }

  #collect(from: number, { runId, after, audience }: Wanted, max: number): Stretch {
    let text = '';
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
      slot.frame ??= sseFrame(row, this.#timestampOf(row.at));
      text += slot.frame;
    }
    return { text, end: place, seq, terminal };
  }

  #timestampOf(at: number): string {
    if (at !== this.#at) {
      this.#at = at;
      this.#timestamp = isoTime(at);
    }
    return this.#timestamp;
  }
}

const weight = (row: Row): number => row.payload.length + (row.task?.length ?? 0);

const sameWish = (a: Wanted, b: Wanted): boolean =>
  a.runId === b.runId && a.after === b.after && a.audience === b.audience;
