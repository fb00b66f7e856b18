/** User-defined patterns. RE2 matches them in linear time; the JavaScript regex engine never sees them. */
import { RE2JS } from 're2js';
import { type CostBudget, costBudget, spend } from './cost-budget.ts';
import { patternCost } from './pattern-cost.ts';

export interface Pattern {
  readonly source: string;
  /**
   * Whether the pattern occurs in the text. Charges the budget while it matches, and throws `CostExceeded` once that is
   * spent. Without a budget, the match has one of `MAX_MATCH_COST`.
   */
  test(text: string, budget?: CostBudget): boolean;
}

/** About 5 ms. */
const MAX_MATCH_COST = 250_000;

/** The bytes of states that RE2 may keep of a pattern. Its own default is 8 MB for each pattern. */
const MAX_STATE_BYTES = 65_536;

/** Units for each instruction of the program, measured: to compute a state, and to follow all threads by a character. */
const STATE = 4;
const THREADS = 3;

/**
 * Charges the budget, if there is one, for the compilation. Throws an Error that explains the problem, also for a
 * pattern that costs too much. Back-references and look-around are not supported.
 */
export function compilePattern(source: string, flags = '', budget?: CostBudget): Pattern {
  const isFolded = flags.includes('i');
  const cost = patternCost(source, isFolded);
  if (budget !== undefined) spend(budget, cost);
  const compiled = RE2JS.compile(
    source,
    (isFolded ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes('s') ? RE2JS.DOTALL : 0),
  );
  const meter = meterOf(compiled);
  return {
    source,
    test(text, given = costBudget(MAX_MATCH_COST)) {
      // At most 10 ns a character, measured with 32 literals that RE2 searches first.
      spend(given, 4 + text.length / 2);
      meter.budget = given;
      meter.length = text.length;
      return compiled.test(text);
    },
  };
}

interface Meter {
  budget: CostBudget;
  length: number;
}

/**
 * Charges what RE2 does beyond one look-up for each character: it computes a missing state of its automaton, or gives
 * the automaton up and follows all threads. Ordinary patterns have few states.
 */
function meterOf(compiled: RE2JS): Meter {
  const meter: Meter = { budget: costBudget(0), length: 0 };
  const size = compiled.programSize();
  // The one-pass engine, which finds groups, takes ten times as long for a character as the automaton.
  Object.assign(compiled.re2(), { onepass: null });
  const { dfa } = compiled.re2();
  dfa.stateBudget = MAX_STATE_BYTES;
  dfa.memBudget = MAX_STATE_BYTES;
  const step = dfa.step.bind(dfa);
  dfa.step = (...given) => {
    spend(meter.budget, STATE * size);
    return step(...given);
  };
  const match = dfa.match.bind(dfa);
  dfa.match = (...given) => {
    const found: unknown = match(...given);
    if (found === null) spend(meter.budget, THREADS * size * (meter.length + 1));
    return found;
  };
  return meter;
}
