/** How far a call is, written down a few times a second however often it is told: the first and the last always. */

export interface ProgressPorts {
  readonly now: () => number;
  readonly after: (ms: number, wake: () => void) => () => void;
  readonly write: (share: number, message: string | undefined) => void;
}

/** At most four rows a second for each call. */
const EVERY_MS = 250;

export class Progress {
  readonly #ports: ProgressPorts;
  #share = 0;
  #message: string | undefined;
  #isHeld = false;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #callOff: (() => void) | null = null;

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
  }

  /** What is no number changes nothing but the message. */
  tell(share: number, message: string | undefined): void {
    if (typeof share === 'number' && share > this.#share) this.#share = Math.min(share, 1);
    this.#message = typeof message === 'string' ? message : undefined;
    this.#isHeld = true;
    const rest = this.#writtenAt + EVERY_MS - this.#ports.now();
    if (rest <= 0) this.#write();
    // A clock that was set back must not hold anything up for longer than the span.
    else this.#callOff ??= this.#ports.after(Math.min(rest, EVERY_MS), () => this.#write());
  }

  /** The call is over: what was told last is written, and nothing after it. */
  end(): void {
    if (this.#isHeld) this.#write();
    this.#callOff?.();
  }

  #write(): void {
    this.#callOff?.();
    this.#callOff = null;
    this.#isHeld = false;
    this.#writtenAt = this.#ports.now();
    this.#ports.write(this.#share, this.#message);
  }
}
