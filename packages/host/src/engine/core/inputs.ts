/** Resolves a node's inputs when it starts: from its definition and its incoming edges. */
import { type Json, type JsonObject, type PortValue, TerminalError } from '@cairn/protocol';
import type { NodeContext } from '../workflow/node-type.ts';
import type { CompiledEdge, CompiledNode, Workflow } from '../workflow/workflow.ts';
import { scopeOf } from './scope.ts';
import type { Queued, RunState } from './state.ts';

/** Returns the edges a node starts on: the back edge that re-enters it, or the taken forward edges. */
export function arrivedEdges(state: RunState, workflow: Workflow, node: CompiledNode, entry: Queued): CompiledEdge[] {
  if (entry.edge !== undefined) return [workflow.edges.get(entry.edge) as CompiledEdge];
  return node.in.filter((edge) => state.edges[edge.id] === 'taken');
}

/** What inputs are resolved from. */
type InputContext = Pick<NodeContext, 'state' | 'compiled' | 'expressionBudget'>;

/** Throws `config_validation_failed` if a required value is missing, `expression_failed` if an expression fails. */
export function resolveInputs(context: InputContext, arrived: readonly CompiledEdge[]): JsonObject {
  const { state, compiled: node } = context;
  const inputs: Record<string, Json> = {};
  const declared = node.node.inputs;
  for (const name of Object.keys(declared)) {
    const port = declared[name];
    const value = port === undefined ? undefined : resolve(context, name, port);
    if (value !== undefined) inputs[name] = value;
  }
  const [edge] = arrived;
  if (edge === undefined) return inputs;
  if (arrived.length === 1) {
    // Fast path: most nodes start on a single edge.
    const name = edge.input ?? 'input';
    const value = broughtByEdge(state, edge);
    if (value !== undefined && !Object.hasOwn(declared, name)) inputs[name] = value;
    return inputs;
  }
  for (const [name, brought] of broughtBy(state, arrived)) {
    if (!Object.hasOwn(declared, name)) inputs[name] = brought;
  }
  return inputs;
}

function resolve(context: InputContext, name: string, value: PortValue): Json | undefined {
  const { state, compiled: node, expressionBudget } = context;
  switch (value.type) {
    case 'static':
      return value.value;
    case 'expression':
      return node.expressions.get(name)?.evaluate(scopeOf(context), expressionBudget);
    case 'connection': {
      const found = outputOf(state.outputs[value.nodeId], value.outputKey);
      if (found === undefined && value.optional !== true) {
        throw missing(node, name, `node ${value.nodeId} has put out no ${value.outputKey}`);
      }
      return found;
    }
    case 'variable': {
      const { variables } = state.view;
      const found = Object.hasOwn(variables, value.variableName) ? variables[value.variableName] : undefined;
      if (found === undefined && value.optional !== true) {
        if (node.undefaulted.includes(value.variableName)) return null;
        throw missing(node, name, `the run has no variable ${value.variableName}`);
      }
      return found;
    }
  }
}

const missing = (node: CompiledNode, name: string, why: string) =>
  new TerminalError('config_validation_failed', {
    message: `Node ${node.id} cannot start: its input ${name} has no value, because ${why}.`,
    hint: 'Give the value, mark the input optional, or make sure that its source runs first.',
    details: { nodeId: node.id, input: name },
  });

/** Returns the output of that name. `output` also means all outputs of a node together. */
function outputOf(outputs: JsonObject | undefined, key: string): Json | undefined {
  if (outputs === undefined) return undefined;
  if (Object.hasOwn(outputs, key)) return outputs[key];
  return key === 'output' ? outputs : undefined;
}

/** Collects the values of the edges by input. Several edges at one input are keyed by their source nodes. */
function broughtBy(state: RunState, edges: readonly CompiledEdge[]): Map<string, Json> {
  const brought = new Map<string, Json>();
  const sources = new Map<string, string>();
  const shared = new Set<string>();
  for (const edge of edges) {
    const value = broughtByEdge(state, edge);
    if (value === undefined) continue;
    const input = edge.input ?? 'input';
    const first = sources.get(input);
    if (first === undefined) {
      sources.set(input, edge.source);
      brought.set(input, value);
    } else {
      if (!shared.has(input)) brought.set(input, { [first]: brought.get(input) as Json });
      shared.add(input);
      brought.set(input, { ...(brought.get(input) as JsonObject), [edge.source]: value });
    }
  }
  return brought;
}

/** An edge without ports carries no value if its source has no outputs; it only orders execution. */
function broughtByEdge(state: RunState, edge: CompiledEdge): Json | undefined {
  const outputs = state.outputs[edge.source];
  if (outputs === undefined) return undefined;
  if (edge.port === null && edge.input === null && isEmpty(outputs)) return undefined;
  const named = outputOf(outputs, edge.port ?? 'output');
  return named === undefined ? outputs : named;
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
