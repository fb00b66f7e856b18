/** When the session of each lease owner ends. Not stored: the folder lock ensures no session outlives its process. */
export class Sessions {
  readonly #until = new Map<string, number>();

  isAlive(owner: string, now: number): boolean {
    return this.until(owner) > now;
  }

  /** The instant at which an owner's leases expire; 0 for an owner from an earlier process. */
  until(owner: string): number {
    return this.#until.get(owner) ?? 0;
  }

  set(owner: string, until: number): void {
    this.#until.set(owner, until);
  }

  /** Like `set`, but never shortens the session. */
  extend(owner: string, until: number): void {
    this.set(owner, Math.max(until, this.until(owner)));
  }
}
