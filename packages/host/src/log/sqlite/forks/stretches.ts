/** Which runs own the rows of a run: itself, and for a fork the runs whose rows it shares. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunRecord } from '../../ports/run-index.ts';
import { type Query, query } from '../query.ts';

/** The rows of the run with the key `owner` from the seq `from` on, before `through`. */
export interface Stretch {
  readonly owner: number;
  readonly from: number;
  readonly through: number;
}

/** In the order of their rows, without gaps. The last one is the run's own, which has no end. */
export type Stretches = readonly Stretch[];

/** Where a run ends. */
export interface LastRow {
  readonly seq: number;
  readonly cursor: number;
  readonly hash: string;
  readonly at: number;
}

/** The rows of a run that is no fork. */
export const allOwn = (run: number): Stretches => [{ owner: run, from: 0, through: Number.MAX_SAFE_INTEGER }];

/** The stretch with a row. */
export function stretchWith(stretches: Stretches, seq: number): number {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seq < (stretches[middle]?.through ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The rows before a seq, in whichever runs they are. */
export const before = (stretches: Stretches, seq: number): Stretches =>
  stretches.filter(({ from }) => from < seq).map((one) => ({ ...one, through: Math.min(one.through, seq) }));

/** The stretches of forks in the table `shared_rows`. Runs that are no forks have none there. */
export class SharedRows {
  readonly #of: Query<[through: number, owner: number]>;
  readonly #add: StatementSync;

  constructor(db: DatabaseSync) {
    this.#of = query(db, 'SELECT through, owner FROM shared_rows WHERE run = ? ORDER BY through');
    this.#add = db.prepare('INSERT INTO shared_rows (run, through, owner) VALUES (?, ?, ?)');
  }

  of(run: number, fork: Pick<NonNullable<RunRecord['fork']>, 'fromSeq'> | null): Stretches {
    if (fork === null) return allOwn(run);
    const stretches: Stretch[] = [];
    let from = 0;
    for (const [through, owner] of this.#of.all(run)) {
      stretches.push({ owner, from, through });
      from = through;
    }
    return [...stretches, { owner: run, from: fork.fromSeq, through: Number.MAX_SAFE_INTEGER }];
  }

  add(run: number, shared: Stretches): void {
    for (const { owner, through } of shared) this.#add.run(run, through, owner);
  }
}
