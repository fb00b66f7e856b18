/** Work that yields where other work may go on, about once in a millisecond. */
export type Slices<Result> = Generator<undefined, Result>;

/** Does all of it at once: for work that is bounded to less than a turn of the event loop. */
export function allOf<Result>(slices: Slices<Result>): Result {
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}
