/** Redacts a stream of text. It releases text at once, except a suffix that may be the beginning of a secret. */
import type { Automaton } from './automaton.ts';
import { MARKER } from './markers.ts';

/** A range of text covered by secrets, as positions from the beginning of the stream. */
interface Stretch {
  start: number;
  readonly end: number;
}

export class RedactedStream {
  readonly #automaton: Automaton;
  #state: number;
  /** Text received but not yet released, and the position of its first character. */
  #text = '';
  #at = 0;
  #stretches: Stretch[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#state = automaton.start;
  }

  /** Takes the next piece. Returns the text that can no longer be part of a secret. */
  push(piece: string): string {
    const automaton = this.#automaton;
    const from = this.#at + this.#text.length;
    let state = this.#state;
    for (let i = 0; i < piece.length; i++) {
      state = automaton.next(state, piece.charCodeAt(i));
      const length = automaton.found(state);
      if (length > 0) this.#cover(from + i + 1, length);
    }
    this.#state = state;
    this.#text += piece;
    // A later match cannot begin before the current partial match.
    return this.#release(from + piece.length - automaton.depth(state));
  }

  /** Ends the text and returns the rest. The stream can then be reused for another text. */
  end(): string {
    const rest = this.#release(this.#at + this.#text.length);
    this.#state = this.#automaton.start;
    return rest;
  }

  /** Merges overlapping secrets into one range, so that no part of any remains. */
  #cover(end: number, length: number): void {
    const found: Stretch = { start: end - length, end };
    for (
      let last = this.#stretches.at(-1);
      last !== undefined && last.end > found.start;
      last = this.#stretches.at(-1)
    ) {
      this.#stretches.pop();
      found.start = Math.min(found.start, last.start);
    }
    this.#stretches.push(found);
  }

  #release(settled: number): string {
    let out = '';
    let done = 0;
    for (const { start, end } of this.#stretches) {
      if (start >= settled) break;
      out += this.#take(start);
      this.#take(end);
      if (end > settled) {
        // The range may still grow, but its text is no longer needed.
        this.#stretches.splice(0, done);
        return out;
      }
      out += MARKER;
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
