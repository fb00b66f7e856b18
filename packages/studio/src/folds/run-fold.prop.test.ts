import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHECKPOINT_ROWS, FoldHistory } from './fold-history.ts';
import { plain } from './plain.kit.ts';
import { longRun, recordedRows, recordedStories } from './recorded-rows.kit.ts';
import { RunFold } from './run-fold.ts';
import type { RunRow } from './run-row.ts';

const foldOf = (rows: readonly RunRow[]): RunFold => {
  const fold = new RunFold();
  for (const row of rows) fold.take(row);
  return fold;
};

const historyOf = (rows: readonly RunRow[]): FoldHistory => {
  const history = new FoldHistory();
  for (const row of rows) history.take(row);
  return history;
};

const long = longRun(3 * CHECKPOINT_ROWS + 77);

describe.each(['operator', 'client'] as const)('the rows that a %s sees', (audience) => {
  test('a run folded in pieces, each on a copy, is the run folded at once', () => {
    const story = fc.constantFrom(...recordedStories);
    fc.assert(
      fc.property(story, fc.array(fc.nat(400), { maxLength: 8 }), (name, cuts) => {
        const rows = recordedRows(name, audience);
        const places = [...cuts.map((cut) => cut % (rows.length + 1)), rows.length].sort((a, b) => a - b);
        let fold = new RunFold();
        let from = 0;
        for (const to of places) {
          const origin = fold;
          const before = plain(origin);
          fold = origin.fork();
          for (const row of rows.slice(from, to)) fold.take(row);
          expect(plain(origin)).toEqual(before);
          from = to;
        }
        expect(plain(fold)).toEqual(plain(foldOf(rows)));
      }),
      { numRuns: 25 },
    );
  });

  test('a log that begins in the middle is folded without an error', () => {
    for (const name of recordedStories) {
      const rows = recordedRows(name, audience);
      for (let from = 1; from < rows.length; from += 5) expect(foldOf(rows.slice(from)).seq).toBe(rows.at(-1)?.seq);
    }
  });
});

test('the state at any event is the fold of the rows up to it, in whichever order it is asked for', () => {
  const history = historyOf(long);
  const expected = new Map<number, ReturnType<typeof plain>>();
  fc.assert(
    fc.property(fc.array(fc.nat(long.length - 1), { minLength: 1, maxLength: 6 }), (jumps) => {
      for (const seq of jumps) {
        if (!expected.has(seq)) expected.set(seq, plain(foldOf(long.slice(0, seq + 1))));
        expect(plain(history.at(seq))).toEqual(expected.get(seq));
      }
    }),
    { numRuns: 4 },
  );
  expect(plain(history.head)).toEqual(plain(foldOf(long)));
});

test('a look at the past leaves the present as it is, also for the rows that follow', () => {
  const history = new FoldHistory();
  for (const [at, row] of long.entries()) {
    history.take(row);
    if (at % 331 === 0) history.at(at - (at % 100));
  }
  expect(plain(history.head)).toEqual(plain(foldOf(long)));
});

test('a jump folds at most the rows of one checkpoint', () => {
  const history = historyOf(long);
  let taken = 0;
  const { take } = RunFold.prototype;
  RunFold.prototype.take = function counted(row) {
    taken += 1;
    take.call(this, row);
  };
  try {
    for (const seq of [2_999, 5, 1_500, 2_001, 2_002]) {
      taken = 0;
      history.at(seq);
      expect(taken).toBeLessThan(CHECKPOINT_ROWS);
    }
    expect(taken).toBe(1);
  } finally {
    RunFold.prototype.take = take;
  }
});

test('rows that come again after a reconnect are taken once', () => {
  const rows = recordedRows('newsroom');
  const history = historyOf([...rows.slice(0, 30), ...rows.slice(20)]);
  expect(history.rows).toEqual(rows);
  expect(plain(history.head)).toEqual(plain(foldOf(rows)));
});
