/** Cuts a stream of bytes into lines. A line that never ends is reported instead of kept. */

const NEWLINE = 0x0a;

export interface LineRules {
  readonly maxBytes: number;
  readonly line: (text: string) => void;
  /** Called once for each line that is too long; the rest of it is skipped. */
  readonly tooLong: (begin: string) => void;
}

/** The bytes of a line that is too long which `tooLong` gets. */
const SHOWN = 1_000;

export class LineSplitter {
  readonly #rules: LineRules;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isSkipping = false;

  constructor(rules: LineRules) {
    this.#rules = rules;
  }

  take(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      this.#add(piece.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#add(piece.subarray(from));
  }

  /** The stream is over: what has no newline is a line, too. */
  end(): void {
    if (this.#bytes > 0) this.#endLine();
  }

  #add(piece: Buffer): void {
    if (this.#isSkipping || piece.length === 0) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#rules.maxBytes) return;
    const begin = Buffer.concat(this.#pieces).toString('utf8', 0, SHOWN);
    this.#clear();
    this.#isSkipping = true;
    this.#rules.tooLong(begin);
  }

  #endLine(): void {
    const isWhole = !this.#isSkipping;
    const text = Buffer.concat(this.#pieces).toString('utf8');
    this.#clear();
    this.#isSkipping = false;
    if (isWhole) this.#rules.line(text.endsWith('\r') ? text.slice(0, -1) : text);
  }

  #clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}
