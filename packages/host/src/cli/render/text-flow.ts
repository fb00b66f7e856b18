/** Text that comes in pieces, shown as it comes: wrapped to the screen at words, and never taken back. */
import { type Paint, safe } from './style.ts';
import { widthOf } from './table.ts';

/** Where lines go. */
export interface TextOutput {
  /** The width of the screen; null when lines may have any length and are written whole. */
  readonly columns: number | null;
  line(text: string): void;
  /** Text that leaves its line open. */
  part(text: string): void;
}

/** Narrower than this nothing is readable, and words are cut in any case. */
const MIN_WIDTH = 16;

export class TextFlow {
  readonly #output: TextOutput;
  readonly #indent: string;
  readonly #paint: Paint;
  /** Cells for text on a line; one is left free, because terminals differ in what they do at the last. */
  readonly #width: number;
  /** What was not shown yet: a word that may go on, or, where lines are written whole, the line. */
  #pending = '';
  /** Spaces before it that are dropped when a line ends here. */
  #gap = 0;
  /** Cells taken on the line that is open; null when none is. */
  #column: number | null = null;

  constructor(output: TextOutput, indent: string, paint: Paint) {
    this.#output = output;
    this.#indent = indent;
    this.#paint = paint;
    this.#width =
      output.columns === null ? Number.POSITIVE_INFINITY : Math.max(MIN_WIDTH, output.columns - widthOf(indent) - 1);
  }

  add(text: string): void {
    const lines = text.replaceAll('\r\n', '\n').split('\n');
    for (const [i, line] of lines.entries()) {
      if (i > 0) this.#endLine();
      if (this.#output.columns === null) this.#pending += line;
      else this.#addWords(line);
    }
  }

  /** Nothing follows. */
  end(): void {
    if (this.#output.columns === null) {
      if (this.#pending !== '') this.#endLine();
      return;
    }
    this.#showWord();
    if (this.#column !== null) this.#breakLine();
  }

  #endLine(): void {
    if (this.#output.columns === null) {
      this.#output.line(`${this.#indent}${this.#paint(safe(this.#pending))}`.trimEnd());
      this.#pending = '';
      return;
    }
    this.#showWord();
    if (this.#column === null) this.#output.part(this.#indent.trimEnd());
    this.#breakLine();
  }

  #addWords(line: string): void {
    for (const [piece] of line.matchAll(/[ \t]+|[^ \t]+/g)) {
      if (piece.startsWith(' ') || piece.startsWith('\t')) {
        this.#showWord();
        this.#gap += piece.length;
      } else {
        this.#pending += safe(piece);
        this.#showFullLines();
      }
    }
  }

  /** A word that is longer than a line begins on one of its own, and is not waited for: some scripts have no spaces. */
  #showFullLines(): void {
    while (widthOf(this.#pending) > this.#width) {
      if (this.#column !== null) this.#breakLine();
      const head = headOf(this.#pending, this.#width);
      this.#show(head, widthOf(head));
      this.#breakLine();
      this.#pending = this.#pending.slice(head.length);
    }
  }

  #showWord(): void {
    if (this.#pending === '') return;
    const width = widthOf(this.#pending);
    if (this.#column !== null && this.#column + this.#gap + width > this.#width) this.#breakLine();
    this.#show(this.#pending, width);
    this.#pending = '';
  }

  #breakLine(): void {
    this.#output.part('\n');
    this.#column = null;
    this.#gap = 0;
  }

  #show(word: string, width: number): void {
    // An indent of the text itself is kept where it leaves room.
    const gap = this.#column === null && this.#gap + width > this.#width ? 0 : this.#gap;
    this.#output.part(`${this.#column === null ? this.#indent : ''}${' '.repeat(gap)}${this.#paint(word)}`);
    this.#column = (this.#column ?? 0) + gap + width;
    this.#gap = 0;
  }
}

/** As much of a word as fits. */
function headOf(word: string, width: number): string {
  let head = '';
  let taken = 0;
  for (const character of word) {
    taken += widthOf(character);
    if (taken > width && head !== '') break;
    head += character;
  }
  return head;
}
