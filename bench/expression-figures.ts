/** Figures for expressions: how much time a unit of cost stands for, and what a typical evaluation takes. */
import type { Json } from '@cairn/protocol';
import { costBudget } from '../packages/host/src/engine/values/cost-budget.ts';
import {
  compileExpression,
  DEFAULT_EXPRESSION_COST,
  type Expression,
  type Scope,
} from '../packages/host/src/engine/values/expressions.ts';
import { libraryEnvironment } from '../packages/host/test/kit/cel-library.ts';
import { attacks, type ExpressionCase, expressionCases, ordinary } from './expression-cases.ts';
import type { Figure, Sample } from './figure.ts';
import type { Group, Plan } from './plan.ts';

export const expressionGroup: Group = {
  name: 'expressions',
  about: 'cost and time of every function and operator of expressions',
  figures: ['expression-ordinary', 'expression-worst', 'expression-unit'],
  // The typical figure comes first: the compiler specialises the code for the expressions that it has seen.
  run: async (plan) => [typical(plan), worst(plan), unit(plan)],
};

const scopeOf = (inputs: Json): Scope => ({ inputs, variables: {}, outputs: {}, output: {}, channels: {} });

/** The shortest of several attempts: other programs make an attempt longer, never shorter. */
function shortestNs(attempts: number, repeat: number, work: () => void): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const began = performance.now();
    for (let i = 0; i < repeat; i++) work();
    shortest = Math.min(shortest, ((performance.now() - began) * 1e6) / repeat);
  }
  return shortest;
}

/** Returns what the evaluation cost, at most the default limit; null if the expression fails for another reason. */
function costOf(expression: Expression, scope: Scope): number | null {
  const budget = costBudget(DEFAULT_EXPRESSION_COST);
  try {
    expression.evaluate(scope, budget);
  } catch {
    if (budget.left >= 0) return null;
  }
  return DEFAULT_EXPRESSION_COST - Math.max(0, budget.left);
}

interface Measured {
  readonly of: string;
  readonly source: string;
  readonly nsPerUnit: number;
}

function measured({ of, source, inputs }: ExpressionCase, attempts: number): Measured | null {
  const scope = scopeOf(inputs);
  for (const text of [source, `[${source}] == []`]) {
    let expression: Expression;
    try {
      expression = compileExpression(text);
    } catch {
      continue;
    }
    const cost = costOf(expression, scope);
    // The fixed part of an evaluation is not what a unit stands for.
    if (cost === null || cost < MIN_COST) continue;
    const repeat = Math.ceil(20_000 / cost);
    return { of, source, nsPerUnit: shortestNs(attempts, repeat, () => costOf(expression, scope)) / cost };
  }
  return null;
}

const MIN_COST = 100;

/** The worst case of each function and operator, worst first. */
function worstOfEach(attempts: number): readonly Measured[] {
  const worst = new Map<string, Measured>();
  for (const one of expressionCases()) {
    const now = measured(one, attempts);
    if (now !== null && now.nsPerUnit > (worst.get(one.of)?.nsPerUnit ?? 0)) worst.set(one.of, now);
  }
  return [...worst.values()].toSorted((a, b) => b.nsPerUnit - a.nsPerUnit);
}

function unit(plan: Plan): Figure {
  worstOfEach(1);
  const rounds = Array.from({ length: plan.rounds }, () => {
    const steps = measured({ of: '', source: 'inputs.l.all(x, x >= 0)', inputs: { l: Array(5_000).fill(1) } }, 20);
    const all = worstOfEach(plan.quick ? 5 : 15);
    for (const { of, nsPerUnit, source } of all.slice(0, 10)) {
      plan.progress(`  ${nsPerUnit.toFixed(1)} ns a unit: ${of}, in ${source.slice(0, 80)}`);
    }
    return { all, value: all[0]?.nsPerUnit ?? Number.NaN, limit: steps?.nsPerUnit ?? Number.NaN };
  });
  const all = rounds[0]?.all ?? [];
  return {
    name: 'expression-unit',
    unit: 'ns, worst',
    limitName: 'a loop over a list of numbers',
    bar: { of: 'value', is: '<', amount: 40 },
    samples: rounds,
    notes: [
      `${all.length} functions and operators`,
      ...all.slice(0, 5).map(({ of, nsPerUnit }) => `${of}: ${nsPerUnit.toFixed(1)} ns`),
    ],
  };
}

function worst(plan: Plan): Figure {
  const scope = scopeOf(attacks.inputs);
  const expressions = attacks.sources.map((source) => compileExpression(source));
  const samples = Array.from({ length: plan.rounds }, (): Sample => {
    const spans = expressions.map((expression) => {
      const ms = shortestNs(plan.quick ? 5 : 15, 1, () => costOf(expression, scope)) / 1e6;
      plan.progress(`  ${ms.toFixed(1)} ms: ${expression.source}`);
      return ms;
    });
    return { value: Math.max(...spans), limit: Math.min(...spans) };
  });
  return {
    name: 'expression-worst',
    unit: 'ms',
    limitName: 'the quickest of these expressions that spend the whole default cost',
    bar: { of: 'value', is: '<', amount: 20 },
    samples,
  };
}

function typical(plan: Plan): Figure {
  const scope = scopeOf(ordinary.inputs);
  const library = libraryEnvironment();
  const own = ordinary.sources.map((source) => compileExpression(source));
  const theirs = ordinary.sources.map((source) => library.parse(source));
  for (const parsed of theirs) parsed.check();
  const average = (work: () => void) => shortestNs(plan.quick ? 20 : 40, 2_000, work) / ordinary.sources.length;
  const samples = Array.from(
    { length: plan.rounds },
    (): Sample => ({
      value: average(() => {
        for (const expression of own) expression.evaluate(scope);
      }),
      limit: average(() => {
        for (const parsed of theirs) parsed({ ...scope });
      }),
    }),
  );
  return {
    name: 'expression-ordinary',
    unit: 'ns',
    limitName: 'the same expressions evaluated by the library, without limits',
    bar: { of: 'ratio', is: '<=', amount: 1.3 },
    samples,
  };
}
