/** Tells of an outage once when it begins and once when it is over, however often it is met in between. */
import type { Report } from '../engine/ports.ts';

export class Outage {
  readonly #what: string;
  readonly #report: Report;
  #on = false;

  /** `what` does not work during it, e.g. "The export of spans to http://127.0.0.1:4318". */
  constructor(what: string, report: Report) {
    this.#what = what;
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#on;
  }

  begin(error: unknown): void {
    if (this.#on) return;
    this.#on = true;
    const said = error instanceof Error ? error.message || error.name : String(error);
    this.#report({
      level: 'warn',
      message: `${this.#what} fails: ${said}. It is tried again by itself; runs go on.`,
    });
  }

  end(): void {
    if (!this.#on) return;
    this.#on = false;
    this.#report({ level: 'info', message: `${this.#what} works again.` });
  }
}
