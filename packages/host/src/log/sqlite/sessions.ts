/** How long each owner of leases lives. Not stored: the folder lock proves that no session outlives its process. */
export class Sessions {
  readonly #until = new Map<string, number>();

  isAlive(owner: string, now: number): boolean {
    return this.until(owner) > now;
  }

  /** The instant at which an owner's leases become free; 0 for an owner of an earlier process. */
  until(owner: string): number {
    return this.#until.get(owner) ?? 0;
  }

  set(owner: string, until: number): void {
    this.#until.set(owner, until);
  }

  /** As `set`, but never earlier than it was. */
  extend(owner: string, until: number): void {
    this.set(owner, Math.max(until, this.until(owner)));
  }
}
