/** "Did you mean": the known name closest to an unknown one, at a bounded cost. */

/** Longer words have no nearest name. */
const MAX_LENGTH = 64;

/** What one search may cost: cells of comparisons, each some 5 ns. Of usual names it compares hundreds. */
const ONE_SEARCH = 50_000;

/** The nearest name within `atLeast` edits or a third of the word's length; null when none is close enough. */
export const nearest = (word: string, names: Iterable<string>, atLeast = 2): string | null =>
  new NearNames(ONE_SEARCH).nearest(word, names, atLeast);

/**
 * Searches that share a cost: data chooses the words, the names and how many searches there are. Once the cost is used
 * up, no name is near.
 */
export class NearNames {
  #left: number;
  /** Two rows of a comparison. Lower case can be twice as long. */
  readonly #row = new Uint8Array(4 * MAX_LENGTH);
  readonly #next = new Uint8Array(4 * MAX_LENGTH);

  constructor(cost: number) {
    this.#left = cost;
  }

  nearest(word: string, names: Iterable<string>, atLeast = 2): string | null {
    if (word.length > MAX_LENGTH) return null;
    const wanted = word.toLowerCase();
    let best: string | null = null;
    let least = Math.max(atLeast, Math.floor(word.length / 3)) + 1;
    for (const name of names) {
      this.#left -= 1;
      if (this.#left < 0) return best;
      if (Math.abs(name.length - word.length) >= least) continue;
      const distance = this.#distance(wanted, name.toLowerCase(), least);
      if (distance < least) {
        least = distance;
        best = name;
      }
    }
    return best;
  }

  /** The number of insertions, deletions and replacements between two words; `limit` if there are more. */
  #distance(a: string, b: string, limit: number): number {
    let [row, next] = [this.#row, this.#next];
    for (let j = 0; j <= b.length; j += 1) row[j] = Math.min(j, limit);
    this.#left -= b.length;
    for (let i = 1; i <= a.length; i += 1) {
      // Cells farther from the diagonal are at the limit.
      const from = Math.max(1, i - limit);
      const to = Math.min(b.length, i + limit);
      this.#left -= to - from + 3;
      let smallest = from === 1 ? Math.min(i, limit) : limit;
      next[from - 1] = smallest;
      for (let j = from; j <= to; j += 1) {
        const replaced = (row[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
        const cell = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, limit);
        next[j] = cell;
        if (cell < smallest) smallest = cell;
      }
      next[to + 1] = limit;
      if (smallest >= limit) return limit;
      [row, next] = [next, row];
    }
    return row[b.length] ?? limit;
  }
}
