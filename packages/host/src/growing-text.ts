/**
 * A text that arrives in many small pieces. Adding strings makes a chain with a link for each piece, which lives as long as
 * the text: the garbage collector walks millions of links when hundreds of texts are streamed. Here they are joined in time.
 */

/** Few enough that unjoined pieces cost little, many enough that each character is copied a few times only. */
const JOIN_AT = 128;

export class GrowingText {
  /** Joined pieces, larger ones first; then the newest pieces as they came. */
  readonly #levels: string[][] = [[]];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    if (piece === '') return;
    this.#length += piece.length;
    for (let level = 0, text = piece; ; level += 1) {
      const pieces = this.#levels[level] ?? [];
      this.#levels[level] = pieces;
      pieces.push(text);
      if (pieces.length < JOIN_AT) return;
      text = pieces.join('');
      pieces.length = 0;
    }
  }

  toString(): string {
    return this.#levels
      .toReversed()
      .map((pieces) => pieces.join(''))
      .join('');
  }
}
