/** Walks the chain of one run row by row, in constant memory, and says what is wrong with a row. */
import type { RunId } from '@cairn/protocol';
import { chainHash, chainStart, type HashedRow, rowHash } from './chain.ts';

/** A row as its store or file has it. A payload of null was retired: only the hash of the row is left. */
export type WalkedRow = Omit<HashedRow, 'payload'> & {
  readonly payload: string | null;
  readonly rowHash: string;
  readonly hash: string;
};

export class ChainWalk {
  /** The last hash that follows from the rows. */
  #hash: string;
  #next = 0;
  #at = Number.NEGATIVE_INFINITY;
  #retired = 0;
  #isIntact = true;

  /** `before` is the row that the walk goes on after; without one it begins with the first. */
  constructor(originRunId: RunId, before?: { readonly seq: number; readonly hash: string; readonly at: number }) {
    this.#hash = before?.hash ?? chainStart(originRunId);
    this.#next = before === undefined ? 0 : before.seq + 1;
    this.#at = before?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** The seq of the next row. */
  get next(): number {
    return this.#next;
  }

  get hash(): string {
    return this.#hash;
  }

  /** Rows whose content was retired. */
  get retired(): number {
    return this.#retired;
  }

  /** Whether every row so far has its content and is as it was written. */
  get isIntact(): boolean {
    return this.#isIntact;
  }

  /** Returns what is wrong with the row; null if nothing is. After a wrong row the walk goes on from its stored hash. */
  add(row: WalkedRow): string | null {
    const expected = this.#next;
    const wrong = this.#wrong(row, expected);
    this.#next = row.seq + 1;
    this.#hash = row.hash;
    this.#at = row.at;
    if (row.payload === null) this.#retired += 1;
    if (row.payload === null || wrong !== null) this.#isIntact = false;
    return wrong;
  }

  #wrong(row: WalkedRow, expected: number): string | null {
    const { seq, type, payload } = row;
    if (seq > expected) return `event ${expected} is missing`;
    if (seq < expected) return `event ${seq} is where event ${expected} belongs`;
    if (payload !== null && rowHash({ ...row, payload }) !== row.rowHash)
      return `event ${seq} (${type}) does not match its hash`;
    if (chainHash(this.#hash, row.rowHash) !== row.hash) return `event ${seq} does not continue the hash chain`;
    return row.at < this.#at ? `event ${seq} is earlier than the one before it` : null;
  }
}
