/** References of a definition to variables, nodes, outputs, ports and triggers that do not exist. */
import type { EdgeCondition, PortValue, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@cairn/protocol';
import { NearNames, nearest } from '../../nearest.ts';
import { type ChannelReaders, mayRead, readersOf } from '../values/channel-access.ts';
import { compileExpression } from '../values/expressions.ts';
import { parseConfig } from './node-config.ts';
import type { NodeType, NodeTypeRegistry, Problem } from './node-type.ts';

/** What a reference may name. */
interface Known {
  /** Declared variables: those that a run can be given. */
  readonly declared: ReadonlySet<string>;
  /** These, and those that nodes set. */
  readonly variables: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, NodeType | undefined>;
  readonly near: NearNames;
  readonly readers: ChannelReaders;
  /** The node that reads, or the source of the edge. */
  readonly reader: WorkflowNode | undefined;
}

/** What the searches for slips in one definition may cost together, in some 5 ms. */
const ALL_SEARCHES = 1_000_000;

/** The graph and the node types must be known. Yields undefined between parts, where others may go on. */
export function* referenceProblems(
  definition: WorkflowDefinition,
  nodeTypes: NodeTypeRegistry,
): Generator<Problem | undefined, void> {
  const types = new Map(definition.nodes.map(({ id, typeId }) => [id, nodeTypes.get(typeId)]));
  const declared = new Set(definition.variables.map(({ name }) => name));
  const variables = new Set(declared);
  for (const node of definition.nodes) {
    for (const name of namesOf(node, types.get(node.id)).sets) variables.add(name);
  }
  const known = { declared, variables, types, near: new NearNames(ALL_SEARCHES), readers: readersOf(definition) };
  yield undefined;
  for (const [index, node] of definition.nodes.entries()) {
    for (const { path, message } of nodeReferences(node, { ...known, reader: node })) {
      yield { path: ['nodes', index, ...path], of: `node ${node.id}`, message };
    }
    yield undefined;
  }
  const nodes = new Map(definition.nodes.map((node) => [node.id, node]));
  for (const [index, edge] of definition.edges.entries()) {
    for (const { path, message } of edgeReferences(edge, { ...known, reader: nodes.get(edge.sourceNodeId) })) {
      yield { path: ['edges', index, ...path], of: `edge ${edge.id}`, message };
    }
    yield undefined;
  }
  yield* triggerProblems(definition, known);
}

interface Names {
  readonly sets: readonly string[];
  readonly reads: readonly string[];
}

function namesOf(node: WorkflowNode, type: NodeType | undefined): Names {
  const parsed = type?.variables === undefined ? null : parseConfig(type, node.config);
  const names = parsed !== null && 'config' in parsed ? type?.variables?.(parsed.config) : undefined;
  return { sets: names?.sets ?? [], reads: names?.reads ?? [] };
}

function* nodeReferences(node: WorkflowNode, known: Known): Generator<Problem, void> {
  const type = known.types.get(node.id);
  for (const [name, value] of Object.entries(node.inputs)) yield* inputReferences(['inputs', name], value, known);
  const { sets, reads } = namesOf(node, type);
  for (const name of sets) yield* typoProblem(['config'], name, known);
  for (const name of reads) yield* variableProblem(['config'], name, known);
  for (const setting of type?.expressions ?? []) {
    const source = node.config[setting];
    if (typeof source === 'string') yield* expressionProblems(['config', setting], source, known);
  }
}

function* inputReferences(path: readonly PropertyKey[], value: PortValue, known: Known): Generator<Problem, void> {
  switch (value.type) {
    case 'variable':
      // An optional input may name a variable that only some callers give.
      if (value.optional !== true || known.near.nearest(value.variableName, known.variables) !== null) {
        yield* variableProblem(path, value.variableName, known);
      }
      return;
    case 'connection':
      yield* outputProblem(path, value.nodeId, value.outputKey, known);
      return;
    case 'expression':
      yield* expressionProblems(path, value.expression, known);
  }
}

function* edgeReferences(edge: WorkflowEdge, known: Known): Generator<Problem, void> {
  const { sourceNodeId, sourceOutput, condition } = edge;
  if (sourceOutput !== undefined) {
    const { ports = {} } = known.types.get(sourceNodeId)?.doc ?? {};
    if (!Object.hasOwn(ports, sourceOutput)) {
      yield* outputProblem(['sourceOutput'], sourceNodeId, sourceOutput, known);
    }
  }
  if (condition !== undefined) yield* conditionProblems(['condition'], condition, known);
}

function* conditionProblems(
  path: readonly PropertyKey[],
  { expression, left }: EdgeCondition,
  known: Known,
): Generator<Problem, void> {
  if (expression !== undefined) yield* expressionProblems(path, expression, known);
  else if (left !== undefined) yield* readProblems(path, left.split('.'), known);
}

function* expressionProblems(path: readonly PropertyKey[], source: string, known: Known): Generator<Problem, void> {
  for (const read of readsOf(source)) yield* readProblems(path, read, known);
}

/** An expression that does not compile is reported elsewhere. */
function readsOf(source: string): readonly (readonly string[])[] {
  try {
    return compileExpression(source).reads();
  } catch {
    return [];
  }
}

function* readProblems(
  path: readonly PropertyKey[],
  [root, name, key]: readonly string[],
  known: Known,
): Generator<Problem, void> {
  if (name === undefined) return;
  if (root === 'variables') yield* variableProblem(path, name, known);
  if (root === 'inputs') yield* inputProblem(path, name, known);
  if (root === 'channels' && known.reader !== undefined && !mayRead(known.readers, name, known.reader)) {
    const message = `node ${known.reader.id} may not read the channel ${name}: add it to access.readers`;
    yield { path, message };
  }
  if (root !== 'outputs') return;
  if (known.types.has(name)) yield* outputProblem(path, name, key ?? 'output', known);
  else yield { path, message: `there is no node ${name}${didYouMean(known.near.nearest(name, known.types.keys()))}` };
}

function* variableProblem(
  path: readonly PropertyKey[],
  name: string,
  { variables, near }: Known,
): Generator<Problem, void> {
  if (variables.has(name)) return;
  const message = `there is no variable ${name}${didYouMean(near.nearest(name, variables))}; declare it in variables`;
  yield { path, message };
}

/** A run may have undeclared inputs. A name that differs from a declared one by a slip is a typo. */
function* inputProblem(path: readonly PropertyKey[], name: string, known: Known): Generator<Problem, void> {
  const near = slipFrom(name, known);
  if (near !== null)
    yield { path, message: `there is no input ${name}; did you mean ${near}? Or declare it in variables` };
}

/** The same for a variable that a node sets. */
function* typoProblem(path: readonly PropertyKey[], name: string, known: Known): Generator<Problem, void> {
  const near = slipFrom(name, known);
  if (near !== null)
    yield { path, message: `it sets the variable ${name}, which is not declared; did you mean ${near}?` };
}

const slipFrom = (name: string, { declared, near }: Known): string | null =>
  declared.has(name) ? null : near.nearest(name, declared, 1);

/** Unknown nodes are reported elsewhere. `output` stands for all outputs of a node. */
function* outputProblem(
  path: readonly PropertyKey[],
  nodeId: string,
  key: string,
  { types }: Known,
): Generator<Problem, void> {
  const type = types.get(nodeId);
  if (type?.doc === undefined || type.doc.otherOutputs !== undefined || key === 'output') return;
  const names = Object.keys(type.doc.outputs);
  if (names.includes(key)) return;
  const ports = Object.keys(type.doc.ports ?? {});
  const list = [...new Set([...names, ...ports])];
  const there = list.length === 0 ? 'it has none' : `there are ${list.join(', ')}`;
  yield { path, message: `node ${nodeId} (${type.typeId}) has no output ${key}${suggestion(key, list)}; ${there}` };
}

/** The nearest right name, if there is one. */
export const suggestion = (name: string, known: Iterable<string>): string => didYouMean(nearest(name, known));

const didYouMean = (near: string | null): string => (near === null ? '' : `; did you mean ${near}?`);

/** A trigger that nothing fires would be a promise that the host does not keep. */
function* triggerProblems({ triggers }: WorkflowDefinition, { types }: Pick<Known, 'types'>): Generator<Problem, void> {
  for (const [index, { id, type, enabled = true, nodeId }] of triggers.entries()) {
    const of = `trigger ${id}`;
    if (type !== 'manual' && enabled) {
      const message = `this host does not fire ${type} triggers; start runs with POST /v1/runs, or set enabled to false`;
      yield { path: ['triggers', index, 'type'], of, message };
    }
    if (nodeId !== undefined && !types.has(nodeId)) {
      yield { path: ['triggers', index, 'nodeId'], of, message: `there is no node ${nodeId}` };
    }
  }
}
