/** Runs a range of seeds as tests. Separate files let the test runner's workers share the seeds. */
import { afterAll, describe, expect, test } from 'vitest';
import { addCoverage, interesting, newCoverage } from './coverage.ts';
import { renderBreach } from './render.ts';
import { simulate } from './world.ts';

const STEPS = 300;
const SEEDS_PER_TEST = 50;

/** `last` must be the last seed of a full test: from, from + 49, ... */
export function describeSeeds(first: number, last: number): void {
  describe(`seeds ${first} to ${last}, ${STEPS} steps each`, () => {
    const coverage = newCoverage();
    let explored = 0;
    for (let from = first; from <= last; from += SEEDS_PER_TEST) {
      const to = from + SEEDS_PER_TEST - 1;
      test(`keep every promise (${from} to ${to})`, { timeout: 120_000 }, async () => {
        for (let seed = from; seed <= to; seed += 1) {
          const result = await simulate({ seed, steps: STEPS });
          expect(renderBreach(result, STEPS)).toBeNull();
          addCoverage(coverage, result.coverage);
          explored += 1;
        }
      });
    }
    // Checks the whole range, so that the result depends neither on test order nor on a filter.
    afterAll(() => {
      if (explored < last - first + 1) return;
      const neverHappened = interesting.filter((name) => coverage[name] === 0);
      expect(neverHappened, 'what the seeds no longer explore').toEqual([]);
    });
  });
}
