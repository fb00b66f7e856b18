/** Lets things happen one after the other, each whatever became of the one before. */

export type InTurn = <Result>(act: () => Promise<Result>) => Promise<Result>;

export function oneAtATime(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return result;
  };
}
