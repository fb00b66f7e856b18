/** CEL expressions: compiled once, evaluated only on the given data, and bounded in time and memory. */

import { type Json, quoted, TerminalError } from '@cairn/protocol';
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { Failure } from './cel/cel-values.ts';
import { compileCel } from './cel/compile-cel.ts';
import type { Frame, Part, Scope } from './cel/evaluation.ts';
import { toJson } from './cel/to-json.ts';
import { type CostBudget, CostExceeded, costBudget } from './cost-budget.ts';
import { firstLineOf } from './error-text.ts';
import { readsOf } from './expression-reads.ts';

export type { Scope };

export interface Expression {
  readonly source: string;
  /** Returns the value as plain JSON and charges the budget; throws `expression_failed`. */
  evaluate(scope: Scope, budget?: CostBudget): Json;
  /** The paths that it reads, each with its root first, as far as they are constant. */
  reads(): readonly (readonly string[])[];
}

/** The default of `limits.expressionCost`: about 10 ms. */
export const DEFAULT_EXPRESSION_COST = 500_000;

const MAX_LENGTH = 4_000;

/** Throws an Error whose message explains the problem. */
export function compileExpression(source: string): Expression {
  if (source.length > MAX_LENGTH) {
    throw new RangeError(`the expression has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
  }
  parser ??= new Environment({
    limits: { maxAstNodes: MAX_LENGTH, maxDepth: 256, maxListElements: 200, maxMapEntries: 200 },
  });
  const { ast } = parser.parse(source);
  const part = compiled(ast);
  return {
    source,
    evaluate: (scope, budget = costBudget(DEFAULT_EXPRESSION_COST)) => evaluate(source, part, scope, budget),
    reads: () => readsOf(ast),
  };
}

/** Constants are evaluated at once. Their failures are no errors, because most failures of a run are expected. */
function compiled(ast: ASTNode): Part {
  try {
    return compileCel(ast);
  } catch (error) {
    throw error instanceof Failure ? new RangeError(error.message) : error;
  }
}

/** Built on first use and never changed. Only its parser is used. */
let parser: Environment | undefined;

function evaluate(source: string, { step }: Part, scope: Scope, budget: CostBudget): Json {
  const frame: Frame = { budget, scope, locals: [] };
  try {
    return toJson(step(frame), budget);
  } catch (error) {
    throw evaluationError(source, error, budget);
  }
}

/** The `expression_failed` of an expression or a condition. */
export function evaluationError(source: string, error: unknown, { limit }: CostBudget): TerminalError {
  if (error instanceof CostExceeded) {
    return new TerminalError('expression_failed', {
      message: `The expression ${quoted(source)} exceeds the cost limit: the expressions that one step of a node evaluates may cost ${limit} units together.`,
      hint: 'Read and build less data in expressions, or do this work in a step. An operator can raise limits.expressionCost.',
      details: { expression: source, limit },
    });
  }
  return new TerminalError('expression_failed', {
    message: `The expression ${quoted(source)} failed: ${error instanceof Failure ? error.message : firstLineOf(error)}.`,
    hint: 'Check the names in it against what the run holds; has(x.y) tells whether a field is there.',
    details: { expression: source },
  });
}
