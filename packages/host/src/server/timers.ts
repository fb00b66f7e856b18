/** Spans of time for connections: keepalives, stalls, long polls. A clock that jumps does not touch them. */

export interface Timers {
  /** Calls `wake` once after so many milliseconds; gives the way to call it off. */
  after(ms: number, wake: () => void): () => void;
}
