/**
 * Aho-Corasick automaton: finds many patterns in one pass. Matching can pause and resume between any two characters.
 */
import { SkipTable } from './skip-table.ts';

const NONE = -1;

/**
 * A state is the longest suffix of the input that is a prefix of a pattern. Most states have one transition and store
 * only that. The few branching states store a row with the next state for every character class. The size therefore
 * grows with the total pattern length, not with that length times the alphabet.
 */
export class Automaton {
  /** Character class of each UTF-16 unit; 0 for units that occur in no pattern. */
  readonly #classes = new Uint16Array(0x10000);
  readonly #rowOf: Int32Array;
  readonly #rows: Int32Array;
  readonly #onlyClass: Int32Array;
  readonly #onlyNext: Int32Array;
  readonly #fallback: Int32Array;
  /** Length of the pattern prefix that each state stands for. */
  readonly #depth: Int32Array;
  /** Length of the longest pattern that ends in each state, or 0. */
  readonly #found: Int32Array;
  readonly #skips: SkipTable;

  constructor(patterns: readonly string[]) {
    this.#skips = new SkipTable(patterns);
    const width = this.#classify(patterns);
    const trie = new Trie(patterns, this.#classes);
    const { size } = trie;
    const array = () => new Int32Array(size).fill(NONE);
    this.#rowOf = array();
    this.#onlyClass = array();
    this.#onlyNext = array();
    this.#fallback = new Int32Array(size);
    this.#depth = Int32Array.from(trie.depth);
    this.#found = new Int32Array(size);
    const branching = trie.children.filter((ways, state) => state === 0 || ways.size > 1).length;
    this.#rows = new Int32Array(branching * width);
    this.#link(trie, width);
  }

  /** The initial state. */
  readonly start = 0;

  next(state: number, unit: number): number {
    return this.#step(state, this.#classes[unit] as number);
  }

  depth(state: number): number {
    return this.#depth[state] as number;
  }

  found(state: number): number {
    return this.#found[state] as number;
  }

  /** Returns whether the text contains a pattern. All input passes through here, and hardly any contains one. */
  isIn(text: string): boolean {
    for (let at = this.#skips.next(text, 0); at !== NONE; at = this.#skips.next(text, at)) {
      let state = this.start;
      do {
        state = this.next(state, text.charCodeAt(at++));
        if (this.#found[state] !== 0) return true;
      } while (state !== this.start && at < text.length);
    }
    return false;
  }

  #step(from: number, unit: number): number {
    for (let state = from; ; state = this.#fallback[state] as number) {
      const row = this.#rowOf[state] as number;
      if (row !== NONE) return this.#rows[row + unit] as number;
      if (this.#onlyClass[state] === unit) return this.#onlyNext[state] as number;
    }
  }

  /** Assigns character classes and returns their number. */
  #classify(patterns: readonly string[]): number {
    let count = 1;
    for (const text of patterns) {
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        if (this.#classes[unit] === 0) this.#classes[unit] = count++;
      }
    }
    return count;
  }

  /** Breadth-first: a fallback state is shorter, so it is linked before the states that use it. */
  #link({ children, ends }: Trie, width: number): void {
    let rows = 0;
    const queue = [0];
    for (const state of queue) {
      const ways = children[state] ?? new Map<number, number>();
      const fallback = this.#fallback[state] as number;
      if (ends.has(state)) this.#found[state] = this.#depth[state] as number;
      else if (state !== 0) this.#found[state] = this.#found[fallback] as number;
      for (const [unit, child] of ways) {
        if (state !== 0) this.#fallback[child] = this.#step(fallback, unit);
        queue.push(child);
      }
      if (state === 0 || ways.size > 1) {
        for (let unit = 0; unit < width; unit++) {
          this.#rows[rows + unit] = ways.get(unit) ?? (state === 0 ? 0 : this.#step(fallback, unit));
        }
        this.#rowOf[state] = rows;
        rows += width;
      }
      for (const [unit, child] of ways.size === 1 ? ways : []) {
        this.#onlyClass[state] = unit;
        this.#onlyNext[state] = child;
      }
    }
  }
}

/** The patterns as a prefix tree; states are numbered in order of creation. */
class Trie {
  readonly children: Map<number, number>[] = [new Map()];
  readonly depth: number[] = [0];
  /** The states at which a pattern ends. */
  readonly ends = new Set<number>();

  constructor(patterns: readonly string[], classes: Uint16Array) {
    for (const text of patterns) {
      let state = 0;
      for (let i = 0; i < text.length; i++) state = this.#child(state, classes[text.charCodeAt(i)] as number);
      this.ends.add(state);
    }
  }

  get size(): number {
    return this.children.length;
  }

  #child(state: number, unit: number): number {
    const ways = this.children[state];
    const known = ways?.get(unit);
    if (known !== undefined) return known;
    const fresh = this.children.length;
    ways?.set(unit, fresh);
    this.children.push(new Map());
    this.depth.push((this.depth[state] as number) + 1);
    return fresh;
  }
}
