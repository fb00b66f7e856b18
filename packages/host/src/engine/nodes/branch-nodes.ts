/** The nodes that choose a way: `core.conditional` once, `core.loop` until it is done. */
import type { EdgeCondition, Json, JsonObject, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';
import { edgeCondition, TerminalError } from '@cairn/protocol';
import { scopeOf } from '../core/scope.ts';
import type { RunState } from '../core/state.ts';
import { compileExpression } from '../values/expressions.ts';
import { compileCondition } from '../workflow/conditions.ts';
import type { NodeContext, NodeType, Program } from '../workflow/node-type.ts';
import { passedOn } from './values.ts';

/** Edges that leave by a port the node never activates would never be taken: that is a mistake, not a choice. */
function portProblems(node: WorkflowNode, definition: WorkflowDefinition, ports: readonly string[]): string[] {
  return definition.edges
    .filter((edge) => edge.sourceNodeId === node.id && !ports.includes(edge.sourceOutput ?? 'output'))
    .map((edge) => `edge ${edge.id} must leave ${node.typeId} by sourceOutput ${ports.join(' or ')}`);
}

const problemOf = (compile: () => unknown, what: string): string[] => {
  try {
    compile();
    return [];
  } catch (error) {
    return [`${what}: ${(error as Error).message}`];
  }
};

const run = ({ compiled, state, inputs }: NodeContext): Json | undefined =>
  compiled.program?.(scopeOf(state as RunState, passedOn(inputs)));

/** The inputs of the node stand where an edge's condition has the outputs of its source. */
function conditionalProgram({ config }: WorkflowNode): Program {
  if (typeof config.expression === 'string') {
    const expression = compileExpression(config.expression);
    return (scope) => expression.evaluate(scope) === true;
  }
  const parsed = edgeCondition.safeParse(config.condition);
  if (!parsed.success) throw new Error('it needs an expression or a condition');
  return compileCondition(parsed.data as EdgeCondition);
}

export const conditional: NodeType = {
  typeId: 'core.conditional',
  check: (node, definition) => [
    ...problemOf(() => conditionalProgram(node), 'config'),
    ...portProblems(node, definition, ['true', 'false']),
  ],
  prepare: conditionalProgram,
  begin(context) {
    const result = run(context) === true;
    return { kind: 'complete', outputs: { result }, ports: [String(result)] };
  },
};

const kindsOfLoop = ['times', 'whileExpression', 'items'] as const;

function loopProgram({ config }: WorkflowNode): Program | null {
  const { times, whileExpression, items } = config;
  if (kindsOfLoop.filter((kind) => config[kind] !== undefined).length !== 1) {
    throw new Error('it needs exactly one of times, whileExpression and items');
  }
  if (typeof whileExpression === 'string') return asProgram(whileExpression);
  if (typeof items === 'string') return asProgram(items);
  if (Array.isArray(items)) return () => items;
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 0) {
    throw new Error('times must be a whole number, items a list or an expression, whileExpression an expression');
  }
  return null;
}

function asProgram(source: string): Program {
  const expression = compileExpression(source);
  return (scope) => expression.evaluate(scope);
}

/** Its body ends in an edge back to it: each visit goes round once more, or is done. */
export const loop: NodeType = {
  typeId: 'core.loop',
  check: (node, definition) => [
    ...problemOf(() => loopProgram(node), 'config'),
    ...portProblems(node, definition, ['body', 'done']),
  ],
  prepare: loopProgram,
  begin(context) {
    const index = context.iteration;
    const turn = nextTurn(context, index);
    return turn === null
      ? { kind: 'complete', outputs: { iterations: index }, ports: ['done'] }
      : { kind: 'complete', outputs: { index, ...turn }, ports: ['body'] };
  },
};

/** What the next turn gets beside its index; null when there is none. */
function nextTurn(context: NodeContext, index: number): JsonObject | null {
  const { config } = context.node;
  if (typeof config.times === 'number') return index < config.times ? {} : null;
  const value = run(context);
  if (config.items === undefined) return value === true ? {} : null;
  if (!Array.isArray(value)) {
    throw new TerminalError('expression_failed', {
      message: `The items of loop ${context.node.id} are not a list but ${JSON.stringify(value)?.slice(0, 200)}.`,
      hint: 'Make config.items a list, or an expression that gives one.',
    });
  }
  return index < value.length ? { item: value[index] as Json } : null;
}
