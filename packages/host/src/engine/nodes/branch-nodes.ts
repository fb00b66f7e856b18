/** Nodes that branch: `core.conditional` once, `core.loop` until it is done. */
import { edgeCondition, type Json, type JsonObject, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { scopeOf } from '../core/scope.ts';
import { firstLineOf } from '../values/error-text.ts';
import type { Expression, Scope } from '../values/expressions.ts';
import { type Condition, compileCondition } from '../workflow/conditions.ts';
import { type ConfiguredNode, defineNodeType, type NodeContext, type Problem } from '../workflow/node-type.ts';
import { anyJson, compiledExpression, expression, wholeNumber } from './config-fields.ts';
import { passedOn } from './values.ts';

/** Reports edges that leave by a port the node never activates. No run would ever follow them. */
function portProblems({ node, definition }: ConfiguredNode, ports: readonly string[]): Problem[] {
  return definition.edges
    .filter((edge) => edge.sourceNodeId === node.id && !ports.includes(edge.sourceOutput ?? 'output'))
    .map((edge) => ({
      path: [],
      message: `edge ${edge.id} must leave ${node.typeId} by sourceOutput ${ports.join(' or ')}`,
    }));
}

/** `output` is the node's inputs here. In an edge condition it is the outputs of the source. */
const scopeIn = (context: NodeContext): Scope => scopeOf(context, passedOn(context.inputs));

/** An expression takes precedence over a condition. */
const conditionalConfig = z
  .strictObject({ expression: z.string().optional(), condition: edgeCondition.optional() })
  .transform((config, context): { readonly holds: Condition } => {
    const path = config.expression === undefined ? 'condition' : 'expression';
    try {
      const { expression, condition } = config;
      const chosen = expression === undefined ? condition : ({ type: 'expression', expression } as const);
      if (chosen === undefined) throw new Error('it needs an expression or a condition');
      return { holds: compileCondition(chosen) };
    } catch (error) {
      context.addIssue({ code: 'custom', path: [path], message: firstLineOf(error) });
      return z.NEVER;
    }
  });

export const conditional = defineNodeType({
  typeId: 'core.conditional',
  config: conditionalConfig,
  onceIgnored: ['expression', 'condition'],
  expressions: ['expression'],
  check: (node) => portProblems(node, ['true', 'false']),
  begin(context) {
    const result = context.config.holds(scopeIn(context), context.expressionBudget);
    return { kind: 'complete', outputs: { result }, ports: [String(result)] };
  },
});

const kindsOfLoop = ['times', 'whileExpression', 'items'] as const;

const loopConfig = z
  .strictObject({
    times: wholeNumber(0).optional(),
    whileExpression: expression.optional(),
    items: z
      .union([z.string(), z.array(anyJson)], 'must be a list, or an expression that gives one')
      .transform((items, context) => (typeof items === 'string' ? compiledExpression(items, context) : items))
      .optional(),
  })
  .refine((config) => kindsOfLoop.filter((kind) => config[kind] !== undefined).length === 1, {
    message: `it needs exactly one of ${kindsOfLoop.join(', ')}`,
  });

/** The body ends in an edge back to this node. Each visit starts another iteration or completes the loop. */
export const loop = defineNodeType({
  typeId: 'core.loop',
  config: loopConfig,
  expressions: ['whileExpression', 'items'],
  check: (node) => portProblems(node, ['body', 'done']),
  begin(context) {
    const index = context.iteration;
    const turn = nextTurn(context, index);
    return turn === null
      ? { kind: 'complete', outputs: { iterations: index }, ports: ['done'] }
      : { kind: 'complete', outputs: { index, ...turn }, ports: ['body'] };
  },
});

/** The outputs of the next iteration besides its index; null when the loop is done. */
function nextTurn(context: NodeContext<z.infer<typeof loopConfig>>, index: number): JsonObject | null {
  const { times, whileExpression, items } = context.config;
  if (times !== undefined) return index < times ? {} : null;
  if (whileExpression !== undefined) {
    return whileExpression.evaluate(scopeIn(context), context.expressionBudget) === true ? {} : null;
  }
  const list = listOf(context, items);
  const item = list[index];
  return item === undefined ? null : { item };
}

function listOf(context: NodeContext, items: Expression | readonly Json[] | undefined): readonly Json[] {
  if (items === undefined || !('evaluate' in items)) return items ?? [];
  const value = items.evaluate(scopeIn(context), context.expressionBudget);
  if (Array.isArray(value)) return value;
  throw new TerminalError('expression_failed', {
    message: `The items of loop ${context.node.id} are not a list but ${JSON.stringify(value)?.slice(0, 200)}.`,
    hint: 'Make config.items a list, or an expression that gives one.',
  });
}
