/** Compiles a definition: adjacency, rules, conditions and settings. All its runs share the result. */
import type { TriggerRule, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@cairn/protocol';
import { invariant, TerminalError } from '@cairn/protocol';
import { handlesFailure } from '../core/trigger-rules.ts';
import { compileExpression, DEFAULT_EXPRESSION_COST, type Expression } from '../values/expressions.ts';
import { concurrentNodesOf } from './concurrent-nodes.ts';
import { compileCondition } from './conditions.ts';
import { analyseGraph, type Graph } from './loops.ts';
import { parseConfig, problemText } from './node-config.ts';
import { compileSettings } from './node-settings.ts';
import type { CompiledEdge, CompiledNode, NodeTypeRegistry, Problem, Workflow } from './node-type.ts';

export type { CompiledEdge, CompiledNode, Workflow };

/** Compiles a definition that passed `checkDefinition`; throws on others. */
export function compileWorkflow(
  definition: WorkflowDefinition,
  hash: string,
  nodeTypes: NodeTypeRegistry,
  expressionCost = DEFAULT_EXPRESSION_COST,
): Workflow {
  const graph = analyseGraph(definition);
  const groups = new Map<string, { rule: TriggerRule; size: number }[]>();
  const edges = definition.edges.map((edge) => compileEdge(edge, graph, groups));
  const out = listBy(edges, (edge) => edge.source);
  const into = listBy(
    edges.filter((edge) => !edge.back),
    (edge) => edge.target,
  );
  const heads = new Set(graph.loops.map((loop) => loop.head));
  const nodes = new Map<string, CompiledNode>();
  for (const node of definition.nodes) {
    const type = nodeTypes.get(node.typeId);
    invariant(type !== undefined, 'node-type-known', { nodeId: node.id, typeId: node.typeId });
    const parsed = parseConfig(type, node.config);
    if ('problems' in parsed) throw unfit(node, parsed.problems);
    const leaving = out.get(node.id) ?? [];
    let concurrentNodes: readonly CompiledNode[] | undefined;
    nodes.set(node.id, {
      id: node.id,
      node,
      definition,
      type,
      config: parsed.config,
      in: into.get(node.id) ?? [],
      groups: groups.get(node.id) ?? [],
      out: leaving,
      loops: graph.loops.flatMap((loop, index) => (loop.nodes.has(node.id) ? [index] : [])),
      isLoopHead: heads.has(node.id),
      handlesFailure: leaving.some((edge) => handlesFailure(edge.rule)),
      ...compileSettings(node, definition),
      expressions: inputExpressions(node),
      expressionCost,
      concurrentNodes: () => {
        concurrentNodes ??= concurrentNodesOf(node.id, nodes);
        return concurrentNodes;
      },
    });
  }
  return {
    definition,
    hash,
    nodes,
    edges: new Map(edges.map((edge) => [edge.id, edge])),
    entries: graph.entries,
    loopExits: graph.loops.map((_, index) => edges.filter((edge) => edge.exits === index)),
    maxLoopbacks: definition.settings.maxLoopbackIterations ?? null,
    agents: new Map(),
  };
}

/** The error for a definition that another host accepted and stored, but this host does not accept. */
const unfit = ({ id, typeId }: WorkflowNode, problems: readonly Problem[]): TerminalError =>
  new TerminalError('validation_error', {
    message: `The config of node ${id} does not fit ${typeId}: ${problems.map(problemText).join('; ')}.`,
    hint: 'Register the workflow again, as this host takes it.',
    details: { nodeId: id, typeId, problems: problems.map(problemText) },
  });

function compileEdge(
  edge: WorkflowEdge,
  graph: Graph,
  groups: Map<string, { rule: TriggerRule; size: number }[]>,
): CompiledEdge {
  const rule = edge.triggerRule ?? 'all_success';
  const back = graph.backEdges.has(edge.id);
  return {
    id: edge.id,
    source: edge.sourceNodeId,
    target: edge.targetNodeId,
    port: edge.sourceOutput ?? null,
    input: edge.targetInput ?? null,
    rule,
    condition: edge.condition === undefined ? null : compileCondition(edge.condition),
    back,
    group: back ? -1 : joinGroup(groups, edge.targetNodeId, rule),
    exits: back ? null : outermostExit(edge, graph),
  };
}

function joinGroup(groups: Map<string, { rule: TriggerRule; size: number }[]>, target: string, rule: TriggerRule) {
  const own = groups.get(target) ?? [];
  groups.set(target, own);
  const known = own.find((group) => group.rule === rule);
  if (known === undefined) return own.push({ rule, size: 1 }) - 1;
  known.size += 1;
  return own.indexOf(known);
}

function outermostExit(edge: WorkflowEdge, graph: Graph): number | null {
  let outermost: number | null = null;
  graph.loops.forEach((loop, index) => {
    if (loop.nodes.has(edge.sourceNodeId) && !loop.nodes.has(edge.targetNodeId)) outermost = index;
  });
  return outermost;
}

function inputExpressions(node: WorkflowNode): ReadonlyMap<string, Expression> {
  const expressions = new Map<string, Expression>();
  for (const [input, value] of Object.entries(node.inputs)) {
    if (value.type === 'expression') expressions.set(input, compileExpression(value.expression));
  }
  return expressions;
}

function listBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const item of items) {
    const list = lists.get(keyOf(item));
    if (list === undefined) lists.set(keyOf(item), [item]);
    else list.push(item);
  }
  return lists;
}
