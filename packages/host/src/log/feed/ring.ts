/** The newest rows of one context, and their frames, built once and shared by all its subscribers. */
import { isTerminalType, type RunId } from '@cairn/protocol';
import { bodySize, type Row } from '../ports/rows.ts';
import { Instants } from './frame.ts';
import { type Lens, shownName } from './lens.ts';
import { isUrgent } from './pace.ts';
import type { Chunk } from './sink.ts';

export interface RingLimits {
  readonly events: number;
  /** Characters of bodies. */
  readonly size: number;
}

interface Slot {
  readonly row: Row;
  /** The last text that was made of it, and how: nearly all subscribers of a context show a row the same way. */
  text: string | null;
  name: string;
  render: Lens['render'] | null;
}

/** What a stretch of the ring holds for one subscriber. */
export interface Stretch extends Chunk {
  /** The place after the stretch. */
  readonly end: number;
  /** Position of the newest event of the range in it. */
  readonly after: number;
}

/** The events of a subscriber: those of its range after a position, as its lens shows them. */
export interface Wanted {
  /** Null for every run of the context. */
  readonly runId: RunId | null;
  readonly after: number;
  readonly audience: 'client' | undefined;
  readonly lens: Lens;
}

/** Kinds of subscribers whose last stretch is remembered; further kinds at once build their text again. */
const MAX_REMEMBERED = 8;

/** Characters from which on a stretch is not remembered beyond one round of subscribers. */
const LARGE_TEXT = 32_768;

/** Rows of one stretch: a lens that hides all of them, or only keeps count of them, is not done quicker. */
const MAX_ROWS = 512;
/** The same of a lens with a state, which parses each row. */
const MAX_OWN_ROWS = 128;

interface Remembered extends Wanted {
  readonly from: number;
  readonly stretch: Stretch;
  /** The texts of its rows. */
  readonly texts: readonly string[];
  /** It ended before the ring did, so that later events do not belong to it. */
  readonly isFull: boolean;
}

/** A stretch before its texts are one. */
interface Collected extends Omit<Stretch, 'text' | 'shared'> {
  readonly texts: readonly string[];
}

const newText = (texts: readonly string[], separator: string) => ({
  text: texts.join(separator),
  shared: { bytes: null },
});

/** For all rings: rows of runs that go on at the same time share the text of their second. */
const instants = new Instants();

/** Places count from 0 for the life of the ring; those before `start` have fallen off. */
export class Ring {
  readonly #limits: RingLimits;
  #slots: Slot[] = [];
  /** How many of `#slots` have fallen off and wait to be cut away together. */
  #gone = 0;
  #cut = 0;
  #size = 0;
  #added = 0;
  /** More than one subscriber reads it, so that the text for one is worth remembering for the others. */
  isShared = false;
  /** The last stretch of each kind of subscriber. */
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

  /** Characters of the bodies that were ever added. */
  get added(): number {
    return this.#added;
  }

  push(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#slots.push({ row, text: null, name: '', render: null });
      const size = bodySize(row);
      this.#size += size;
      this.#added += size;
    }
    while (this.end - this.start > this.#limits.events || (this.#size > this.#limits.size && this.start < this.end)) {
      this.#letGo();
    }
    this.#cutAway();
  }

  /** Drops what lies before a place: no subscriber needs it, and it would only grow old in the heap. */
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

  /** Drops the texts of large stretches, which subscribers at one place have shared. */
  forgetTexts(): void {
    if (this.#last.some(isLarge)) this.#last = [];
  }

  /** Drops everything: subscribers that are behind read the log. */
  clear(): void {
    this.trim(this.end);
  }

  #letGo(): void {
    const slot = this.#slots[this.#gone];
    if (slot !== undefined) this.#size -= bodySize(slot.row);
    this.#gone += 1;
  }

  #cutAway(): void {
    if (this.#gone * 2 <= this.#slots.length) return;
    this.#slots = this.#gone === this.#slots.length ? [] : this.#slots.slice(this.#gone);
    this.#cut += this.#gone;
    this.#gone = 0;
  }

  /** What lies from a place on, up to about `max` characters; subscribers at the same place share one text. */
  read(from: number, wanted: Wanted, max: number): Stretch {
    if (!this.isShared || wanted.lens.key === null) {
      const { texts, ...passed } = this.#collect(from, wanted, max);
      return { ...passed, text: texts.join(wanted.lens.separator) };
    }
    const kind = this.#last.findIndex((last) => isSameKind(last, wanted));
    const last = this.#last[kind];
    if (last !== undefined && isAt(last, from, wanted) && (last.isFull || last.stretch.end === this.end)) {
      return last.stretch;
    }
    const { texts, ...passed } = this.#collect(from, wanted, max);
    const { runId, after, audience, lens } = wanted;
    const { text, shared } = this.#sameTexts(texts, lens.separator) ?? newText(texts, lens.separator);
    const stretch = { ...passed, text, shared };
    const remembered = { runId, after, audience, lens, from, stretch, texts, isFull: stretch.end < this.end };
    if (kind >= 0) this.#last[kind] = remembered;
    else if (this.#last.length < MAX_REMEMBERED) this.#last.push(remembered);
    return stretch;
  }

  /** A thousand subscribers with filters of their own mostly see the same rows, and then share one text too. */
  #sameTexts(
    texts: readonly string[],
    separator: Lens['separator'],
  ): Required<Pick<Stretch, 'text' | 'shared'>> | null {
    for (const { stretch, lens, texts: others } of this.#last) {
      const { text, shared } = stretch;
      if (shared === undefined || lens.separator !== separator || others.length !== texts.length) continue;
      // Texts of one row are one string, so that this compares no characters.
      if (texts.every((one, place) => one === others[place])) return { text, shared };
    }
    return null;
  }

  #collect(from: number, { runId, after, audience, lens }: Wanted, max: number): Collected {
    const texts: string[] = [];
    let size = 0;
    let upTo = -1;
    let urgent = false;
    let newest = after;
    let isLast = false;
    let place = from;
    const end = Math.min(this.end, from + (lens.key === null ? MAX_OWN_ROWS : MAX_ROWS));
    for (; place < end && size < max && !isLast; place += 1) {
      const slot = this.#slots[place - this.#cut];
      if (slot === undefined || (runId !== null && slot.row.runId !== runId)) continue;
      const { row } = slot;
      // The end of a run ends its subscriber also when it asked for positions that the run never reached.
      isLast = runId !== null && isTerminalType(row.type);
      const position = runId === null ? row.cursor : row.seq;
      if (position <= after) continue;
      newest = position;
      if (audience !== undefined && row.audience !== audience) continue;
      const name = shownName(row, lens);
      if (name === null) continue;
      const text = this.#textOf(slot, name, lens);
      texts.push(text);
      size += text.length;
      upTo = position;
      urgent ||= isLast || isUrgent(row.type);
    }
    return { texts, upTo, urgent, isLast, end: place, after: newest };
  }

  #textOf(slot: Slot, name: string, { render, key }: Lens): string {
    if (slot.text !== null && slot.render === render && slot.name === name) return slot.text;
    const { row } = slot;
    const text = render(row, name, instants.textOf(row.at));
    // A text for a single subscriber would only stay in the heap.
    if (this.isShared && key !== null) {
      slot.text = text;
      slot.name = name;
      slot.render = render;
    }
    return text;
  }
}

const isLarge = ({ stretch }: Remembered): boolean => stretch.text.length >= LARGE_TEXT;

const isSameKind = (last: Remembered, wanted: Wanted): boolean =>
  last.runId === wanted.runId && last.audience === wanted.audience && last.lens.key === wanted.lens.key;

const isAt = (last: Remembered, from: number, wanted: Wanted): boolean =>
  last.from === from && last.after === wanted.after;
