/** CEL expressions: compiled once, evaluated only on the given data, and bounded in time and memory. */

import { type Json, quoted, TerminalError } from '@cairn/protocol';
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { firstLineOf } from './error-text.ts';
import { type Budget, cairnFunctions, MAX_EVALUATION_STEPS, refuseOverspent, toJson } from './expression-functions.ts';

/** The data that an expression can read. */
export interface Scope {
  /** The run's inputs. */
  readonly inputs: Json;
  readonly variables: Json;
  /** The latest outputs of every node, by node id. */
  readonly outputs: Json;
  /** The outputs of the edge's source node. */
  readonly output: Json;
  readonly channels: Json;
}

export interface Expression {
  readonly source: string;
  /** Returns the value as plain JSON; throws `expression_failed`. */
  evaluate(scope: Scope): Json;
}

const MAX_LENGTH = 4_000;
const MAX_DEPTH = 32;
const MAX_NODES = 500;
const macros = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

/** Throws an Error whose message explains the problem. */
export function compileExpression(source: string): Expression {
  if (source.length > MAX_LENGTH) {
    throw new RangeError(`the expression has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
  }
  const cel = environment();
  const parsed = cel.parse(guarded(cel.parse(source).ast, 0));
  const checked = parsed.check();
  if (!checked.valid) throw new Error(firstLineOf(checked.error));
  return { source, evaluate: (scope) => evaluate(source, parsed, scope) };
}

function evaluate(source: string, parsed: ParseResult, scope: Scope): Json {
  const budget: Budget = { left: MAX_EVALUATION_STEPS };
  try {
    // Not copied: parts of the scope may be computed lazily.
    const value: unknown = parsed(Object.create(scope, { [BUDGET]: { value: budget } }));
    refuseOverspent(budget);
    return toJson(value);
  } catch (error) {
    throw new TerminalError('expression_failed', {
      message: `The expression ${quoted(source)} failed: ${firstLineOf(error)}.`,
      hint: 'Check the names in it against what the run holds; has(x.y) tells whether a field is there.',
      details: { expression: source },
    });
  }
}

const BUDGET = 'cairn_budget';

/** Built on first use and never changed: building an environment costs more than many evaluations. */
let shared: Environment | undefined;
function environment(): Environment {
  if (shared !== undefined) return shared;
  const cel = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 8 * MAX_NODES, maxDepth: 8 * MAX_DEPTH, maxListElements: 200, maxMapEntries: 200 },
  });
  for (const name of ['inputs', 'variables', 'outputs', 'output', 'channels', BUDGET])
    cel.registerVariable(name, 'dyn');
  for (const [signature, body] of cairnFunctions) cel.registerFunction(signature, body);
  // JSON numbers arrive as doubles. These operators let them mix with integer literals in expressions.
  for (const [left, right] of [
    ['double', 'int'],
    ['int', 'double'],
  ]) {
    cel.registerOperator(`${left} - ${right}`, (a: number, b: number) => Number(a) - Number(b));
    cel.registerOperator(`${left} * ${right}`, (a: number, b: number) => Number(a) * Number(b));
    cel.registerOperator(`${left} / ${right}`, (a: number, b: number) => Number(a) / Number(b));
    cel.registerOperator(`${left} % ${right}`, (a: number, b: number) => Number(a) % Number(b));
  }
  cel.registerOperator('double % double', (a: number, b: number) => a % b);
  shared = cel;
  return cel;
}

/**
 * Rewrites the expression with guards, because the library does not limit these costs. `matches` uses RE2, macros
 * charge their iterations to the budget in advance, and `+` refuses to build large values.
 */
function guarded(node: ASTNode, depth: number): string {
  if (depth > MAX_DEPTH) throw new RangeError(`the expression is nested deeper than ${MAX_DEPTH} levels`);
  const write = (child: ASTNode) => guarded(child, depth + 1);
  switch (node.op) {
    case 'value':
      return node.input.slice(node.range.start, node.range.end);
    case 'id':
      if (node.args === BUDGET || node.args === 'cel') throw new Error(`the name ${node.args} is reserved`);
      return node.args;
    case '.':
      return `${write(node.args[0])}.${node.args[1]}`;
    case '[]':
      return `${write(node.args[0])}[${write(node.args[1])}]`;
    case '!_':
      return `!(${write(node.args)})`;
    case '-_':
      return `(-${write(node.args)})`;
    case 'list':
      return `[${node.args.map(write).join(', ')}]`;
    case 'map':
      return `{${node.args.map(([key, value]) => `${write(key)}: ${write(value)}`).join(', ')}}`;
    case '?:':
      return `(${write(node.args[0])} ? ${write(node.args[1])} : ${write(node.args[2])})`;
    case 'call':
      return call(node.args[0], node.args[1], write);
    case 'rcall':
      return methodCall(node.args, write);
    case '+':
      return `cairn_add(${write(node.args[0])}, ${write(node.args[1])})`;
    case '.?':
    case '[?]':
      throw new Error(`optional access is not supported`);
    default:
      return `(${write(node.args[0])} ${node.op} ${write(node.args[1])})`;
  }
}

function call(name: string, args: readonly ASTNode[], write: (node: ASTNode) => string): string {
  if (name.startsWith('cairn_')) throw new Error(`the name ${name} is reserved`);
  return `${name}(${args.map(write).join(', ')})`;
}

function methodCall(
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  write: (node: ASTNode) => string,
): string {
  if (name.startsWith('cairn_')) throw new Error(`the name ${name} is reserved`);
  const on = write(receiver);
  const given = args.map(write).join(', ');
  if (name === 'matches') return `cairn_matches(${[BUDGET, on, given].join(', ')})`;
  return macros.has(name) && args.length > 1
    ? `cairn_turns(${BUDGET}, ${on}).${name}(${given})`
    : `${on}.${name}(${given})`;
}
