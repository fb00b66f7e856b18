/** Runs async functions one at a time, in order. A failure does not stop the next one. */

export type OneAtATime = <Result>(act: () => Promise<Result>) => Promise<Result>;

export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return result;
  };
}
