/** Compiles a definition: adjacency, rules, conditions and settings. All its runs share the result. */
import type { TriggerRule, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@cairn/protocol';
import { invariant, TerminalError } from '@cairn/protocol';
import { handlesFailure } from '../core/trigger-rules.ts';
import { nothingPinned } from '../pins/pinned.ts';
import { atOnce, type Sliced } from '../shares/long-work.ts';
import { readersOf } from '../values/channel-access.ts';
import { firstLineOf } from '../values/error-text.ts';
import { compileExpression, DEFAULT_EXPRESSION_COST, type Expression } from '../values/expressions.ts';
import { concurrentNodesOf } from './concurrent-nodes.ts';
import { compileCondition } from './conditions.ts';
import { analyseGraph, type Graph } from './loops.ts';
import { parseStoredConfig, problemText } from './node-config.ts';
import { compileSettings } from './node-settings.ts';
import type { CompiledEdge, CompiledNode, NodeTypeRegistry, Problem, Workflow } from './node-type.ts';

export type { CompiledEdge, CompiledNode, Workflow };

/** Compiles a definition that passed `checkDefinition`; throws on others. */
export const compileWorkflow = (definition: WorkflowDefinition, hash: string, nodeTypes: NodeTypeRegistry): Workflow =>
  atOnce(compileInSlices({ definition, hash, nodeTypes }));

export interface CompileOptions {
  readonly definition: WorkflowDefinition;
  readonly hash: string;
  readonly nodeTypes: NodeTypeRegistry;
  /** The maximum cost of the expressions in one decision about a node. */
  readonly expressionCost?: number | undefined;
}

/** The same, for a caller that lets others go on between its parts. */
export function* compileInSlices(options: CompileOptions): Sliced<Workflow> {
  const { definition, hash, nodeTypes, expressionCost = DEFAULT_EXPRESSION_COST } = options;
  const graph = graphOf(definition);
  yield undefined;
  const groups = new Map<string, { rule: TriggerRule; size: number }[]>();
  const edges: CompiledEdge[] = [];
  for (const edge of definition.edges) {
    edges.push(compileEdge(edge, graph, groups));
    yield undefined;
  }
  const out = listBy(edges, (edge) => edge.source);
  const into = listBy(
    edges.filter((edge) => !edge.back),
    (edge) => edge.target,
  );
  yield undefined;
  const undefaulted = definition.variables
    .filter(({ defaultValue }) => defaultValue === undefined)
    .map(({ name }) => name);
  const channelReaders = readersOf(definition);
  const heads = new Set(graph.loops.map((loop) => loop.head));
  const nodes = new Map<string, CompiledNode>();
  for (const node of definition.nodes) {
    const { id } = node;
    const links = {
      in: into.get(id) ?? [],
      groups: groups.get(id) ?? [],
      out: out.get(id) ?? [],
      loops: graph.loopsOf.get(id) ?? [],
      isLoopHead: heads.has(id),
      undefaulted,
      channelReaders,
      expressionCost,
    };
    nodes.set(id, { ...compileNode(node, definition, nodeTypes), ...links, ...relationsOf(links.out, id, nodes) });
    yield undefined;
  }
  const exits = listBy(edges, (edge) => edge.exits);
  return {
    definition,
    hash,
    nodes,
    edges: new Map(edges.map((edge) => [edge.id, edge])),
    entries: graph.entries,
    loopExits: graph.loops.map((_, index) => exits.get(index) ?? []),
    maxLoopbacks: definition.settings.maxLoopbackIterations ?? null,
    ...nothingPinned,
  };
}

/** The part of a compiled node that depends on the node alone. */
function compileNode(node: WorkflowNode, definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry) {
  const type = nodeTypes.get(node.typeId);
  invariant(type !== undefined, 'node-type-known', { nodeId: node.id, typeId: node.typeId });
  const parsed = parseStoredConfig(type, node.config);
  if ('problems' in parsed) throw unfit(node, parsed.problems);
  return {
    id: node.id,
    node,
    definition,
    type,
    config: parsed.config,
    ...compileSettings(node, definition),
    expressions: inputExpressions(node),
  };
}

/** The part that depends on its edges and on other nodes. These are looked up at the first use. */
function relationsOf(out: readonly CompiledEdge[], nodeId: string, nodes: ReadonlyMap<string, CompiledNode>) {
  let concurrentNodes: readonly CompiledNode[] | undefined;
  return {
    handlesFailure: out.some((edge) => handlesFailure(edge.rule)),
    concurrentNodes: () => {
      concurrentNodes ??= concurrentNodesOf(nodeId, nodes);
      return concurrentNodes;
    },
  };
}

/** A stored definition may have more loops than this host accepts. */
function graphOf(definition: WorkflowDefinition): Graph {
  try {
    return analyseGraph(definition);
  } catch (error) {
    throw new TerminalError('validation_error', {
      message: `The graph of the workflow ${definition.id} does not fit: ${firstLineOf(error)}.`,
      hint: 'Use fewer or smaller loops, and register the workflow again.',
      details: { workflowId: definition.id },
      cause: error,
    });
  }
}

/** The error for a definition that another host accepted and stored, but this host does not accept. */
const unfit = ({ id, typeId }: WorkflowNode, problems: readonly Problem[]): TerminalError =>
  new TerminalError('validation_error', {
    message: `The config of node ${id} does not fit ${typeId}: ${problems.map(problemText).join('; ')}.`,
    hint: 'Correct the workflow for this host and register it again.',
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

function outermostExit({ sourceNodeId, targetNodeId }: WorkflowEdge, { loops, loopsOf }: Graph): number | null {
  const index = (loopsOf.get(sourceNodeId) ?? []).findLast((loop) => loops[loop]?.nodes.has(targetNodeId) !== true);
  return index ?? null;
}

function inputExpressions(node: WorkflowNode): ReadonlyMap<string, Expression> {
  const expressions = new Map<string, Expression>();
  for (const [input, value] of Object.entries(node.inputs)) {
    if (value.type === 'expression') expressions.set(input, compileExpression(value.expression));
  }
  return expressions;
}

function listBy<T, Key>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, T[]> {
  const lists = new Map<Key, T[]>();
  for (const item of items) {
    const list = lists.get(keyOf(item));
    if (list === undefined) lists.set(keyOf(item), [item]);
    else list.push(item);
  }
  return lists;
}
