/** Shows streamed text as it arrives: wraps it at words and never rewrites a line. */
import { type Paint, safe } from './style.ts';
import { widthOf } from './table.ts';

/** The destination of lines. */
export interface TextOutput {
  /** The width of the screen; null: write complete lines of any length. */
  readonly columns: number | null;
  line(text: string): void;
  /** Writes text without a line break. */
  part(text: string): void;
}

/** Below this width nothing is readable. */
const MIN_WIDTH = 16;

export class TextFlow {
  readonly #output: TextOutput;
  readonly #indent: string;
  readonly #paint: Paint;
  /** Cells for text on a line. One cell stays free, because terminals differ in their handling of the last one. */
  readonly #width: number;
  /** Text not shown yet: an incomplete word, or the incomplete line if lines are written whole. */
  #pending = '';
  /** Spaces before it, dropped at a line break. */
  #gap = 0;
  /** Used cells of the open line; null if no line is open. */
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

  /** Ends the text. */
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

  /** Shows a word that is longer than a line without waiting for its end: some scripts have no spaces. */
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
    // Keep the text's own indent if there is space.
    const gap = this.#column === null && this.#gap + width > this.#width ? 0 : this.#gap;
    this.#output.part(`${this.#column === null ? this.#indent : ''}${' '.repeat(gap)}${this.#paint(word)}`);
    this.#column = (this.#column ?? 0) + gap + width;
    this.#gap = 0;
  }
}

/** The longest prefix of a word that fits. */
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
