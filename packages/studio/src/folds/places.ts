/**
 * Where an item of a fold's list stands, by its name. All copies of a fold share one: they fold the same rows, so that an item
 * has the same place in each. A place counts in a copy if its list is that long.
 */
export class Places {
  readonly #places = new Map<string, number>();

  /** The place of the name in a list of this length; -1 if it has none yet. */
  of(name: string, length: number): number {
    const place = this.#places.get(name);
    return place !== undefined && place < length ? place : -1;
  }

  /** The first place of a name stays its place: a copy that folds the past again must not move it. */
  put(name: string, place: number): void {
    if (!this.#places.has(name)) this.#places.set(name, place);
  }
}
