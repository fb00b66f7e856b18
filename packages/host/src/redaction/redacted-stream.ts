/** Redacts a text that comes in pieces: gives each piece on at once, but for an end that may be the beginning of a secret. */
import type { Automaton } from './automaton.ts';

/** A stretch of the text that is covered by secrets, as positions from the beginning of the stream. */
interface Stretch {
  start: number;
  end: number;
  /** The longest secret in it names it. */
  length: number;
  of: number;
}

export class RedactedStream {
  readonly #automaton: Automaton;
  readonly #markers: readonly string[];
  #state: number;
  /** What has come and has not been given on, and the position of its first character. */
  #text = '';
  #at = 0;
  #stretches: Stretch[] = [];

  constructor(automaton: Automaton, markers: readonly string[]) {
    this.#automaton = automaton;
    this.#markers = markers;
    this.#state = automaton.start;
  }

  /** The next piece; gives what is certain by now. */
  push(piece: string): string {
    const automaton = this.#automaton;
    const from = this.#at + this.#text.length;
    let state = this.#state;
    for (let i = 0; i < piece.length; i++) {
      state = automaton.next(state, piece.charCodeAt(i));
      const length = automaton.found(state);
      if (length > 0) this.#cover(from + i + 1, length, automaton.of(state));
    }
    this.#state = state;
    this.#text += piece;
    // Whatever is found from now on begins at the earliest with what may be a beginning now.
    return this.#release(from + piece.length - automaton.depth(state));
  }

  /** No more will come; gives the rest. The stream can then be used for another text. */
  end(): string {
    const rest = this.#release(this.#at + this.#text.length);
    this.#state = this.#automaton.start;
    return rest;
  }

  /** Secrets that overlap make one stretch: of none of them may a part stay. */
  #cover(end: number, length: number, of: number): void {
    const found: Stretch = { start: end - length, end, length, of };
    for (
      let last = this.#stretches.at(-1);
      last !== undefined && last.end > found.start;
      last = this.#stretches.at(-1)
    ) {
      this.#stretches.pop();
      found.start = Math.min(found.start, last.start);
      if (last.length >= found.length) {
        found.length = last.length;
        found.of = last.of;
      }
    }
    this.#stretches.push(found);
  }

  #release(settled: number): string {
    let out = '';
    let done = 0;
    for (const { start, end, of } of this.#stretches) {
      if (start >= settled) break;
      out += this.#take(start);
      this.#take(end);
      if (end > settled) {
        // It may still grow; its text is not needed for that.
        this.#stretches.splice(0, done);
        return out;
      }
      out += this.#markers[of] ?? '';
      done++;
    }
    this.#stretches.splice(0, done);
    return out + this.#take(settled);
  }

  #take(to: number): string {
    const count = to - this.#at;
    if (count <= 0) return '';
    const taken = this.#text.slice(0, count);
    this.#text = this.#text.slice(count);
    this.#at = to;
    return taken;
  }
}
