/** Spreads the pages of many readers over turns of the event loop, one tenant after the other. */
import { FairTurns } from '../../fair-turns.ts';
import { bodySize, type Row } from '../ports/rows.ts';
import type { Read } from './commit/group-commit.ts';

/**
 * Characters read in one turn of the event loop: one page of large rows, or many small ones. A reader folds or renders
 * what it reads in the same turn, which takes three times as long as the read: together about 3 ms.
 */
const TURN_BYTES = 196_608;

/** What a row costs besides its bodies, in characters: a page of 500 small rows takes as long as one of 256 Ki characters. */
const ROW_COST = 512;

/** What a row costs that a filter passes over. */
export const SCAN_COST = 128;

/** The owner of reads that serve the host itself. */
export const HOST = '';

/** Reads in this turn or a later one. The inner `read` is immediate, and names the file when the query fails. */
export type InReadTurn = <Page>(
  ownerOf: () => string,
  page: () => Page,
  costOf: (page: Page) => number,
) => Promise<Page>;

export function readTurns(read: Read, nextTurn: (go: () => void) => void): InReadTurn {
  const turns = new FairTurns({
    budget: TURN_BYTES,
    // Within `read`, because a transaction that is not durable yet may have begun meanwhile.
    nextTurn: (begin) => nextTurn(() => void duringRead(begin)),
  });
  const duringRead = async (begin: () => void): Promise<void> => {
    try {
      await read(begin);
    } catch (error) {
      turns.refuse(error);
    }
  };
  return async (ownerOf, page, costOf) =>
    read(() =>
      turns.take(ownerOf(), () =>
        read(() => {
          const found = page();
          turns.charge(costOf(found));
          return found;
        }),
      ),
    );
}

/** What a page of rows costs. */
export function rowsCost(rows: readonly Row[]): number {
  let cost = ROW_COST;
  for (const row of rows) cost += ROW_COST + bodySize(row);
  return cost;
}
