/** Statements of one kind, so many at a time: what else a node asks never waits for a connection behind a flood of them. */
import type { Queries } from './database.ts';

export function atMost(most: number, queries: Queries): Queries {
  const waiting: (() => void)[] = [];
  let free = most;
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  return {
    rows: (text, values) => inTurn(() => queries.rows(text, values)),
    changed: (text, values) => inTurn(() => queries.changed(text, values)),
  };
}
