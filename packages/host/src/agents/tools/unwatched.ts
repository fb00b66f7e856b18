/** Promises that a tool may leave alone. */

/** Marks the rejection as handled: a tool that does not await the promise must not crash the host. */
export function unwatched<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined);
  return promise;
}

/** For a function that never continues. Only the function itself references this promise. */
export const never = <Value = never>(): Promise<Value> => new Promise(() => undefined);
