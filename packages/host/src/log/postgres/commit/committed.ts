/** The outcome of a batch. */

/** What `cairn.commit` returns. */
export interface Committed {
  /** Places of groups that were not written. */
  readonly failed: readonly number[];
  /** Of the rows that were written, in order. */
  readonly cursors: readonly number[] | null;
  /** Keys of runs, by the place of the group. */
  readonly runs: readonly (number | null)[];
  /** The newest cursor of each group's context before the commit; null when that is unknown. */
  readonly befores: readonly (number | null)[];
  readonly usage: Readonly<Record<string, number>> | null;
}
