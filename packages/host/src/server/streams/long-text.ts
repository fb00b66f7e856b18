/** A text that is too large for one turn of the event loop, on its way to one client. */
import type { FairTurns } from '../../fair-turns.ts';

export interface LongTextPorts {
  readonly turns: FairTurns;
  /** The tenant that the turns are taken for. */
  readonly owner: string;
  /** Writes a part; false when the client is full. */
  readonly write: (part: string) => boolean;
  /** The client is full. It calls `resume` when it has room. */
  readonly stalled: () => void;
  /** Everything is written; false when the client is full. */
  readonly done: (hasRoom: boolean) => void;
}

/** Writes part by part, at the pace of the client and in turns with other work. */
export class LongText {
  readonly #parts: readonly string[];
  readonly #ports: LongTextPorts;
  #next = 0;
  #isWriting = false;
  /** The client may drain before the turn of the write that filled it is over. */
  #hasRoom = true;
  #isClosed = false;

  constructor(parts: readonly string[], ports: LongTextPorts) {
    this.#parts = parts;
    this.#ports = ports;
  }

  /** Characters that are not written yet. */
  get waiting(): number {
    let size = 0;
    for (let i = this.#next; i < this.#parts.length; i += 1) size += this.#parts[i]?.length ?? 0;
    return size;
  }

  /** Begins, or goes on after the client was full. */
  resume(): void {
    this.#hasRoom = true;
    if (!this.#isWriting) void this.#write();
  }

  /** Writes nothing more and calls no listener. */
  close(): void {
    this.#isClosed = true;
  }

  async #write(): Promise<void> {
    const { turns, owner, stalled, done } = this.#ports;
    this.#isWriting = true;
    while (this.#hasRoom && this.#next < this.#parts.length) {
      await turns.take(owner, () => this.#writeNext());
      if (this.#isClosed) return;
    }
    this.#isWriting = false;
    if (this.#next === this.#parts.length) done(this.#hasRoom);
    else stalled();
  }

  #writeNext(): void {
    if (this.#isClosed) return;
    const part = this.#parts[this.#next] ?? '';
    this.#next += 1;
    this.#ports.turns.charge(part.length);
    this.#hasRoom = this.#ports.write(part);
  }
}
