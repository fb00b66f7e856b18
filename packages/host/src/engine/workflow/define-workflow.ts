/** Builds a workflow in code. The result is the plain definition that a client would register; no code is replayed. */
import {
  type AuthoredWorkflow,
  type EdgeCondition,
  type Json,
  type JsonObject,
  type PortValue,
  parseAuthoredWorkflow,
  quoted,
  type TriggerRule,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowVariable,
} from '@cairn/protocol';
import { type OptionNames, refuseUnknownOptions } from './known-options.ts';

export interface NodeOptions {
  /** A step, or the typeId of another node type. */
  readonly type: string | { readonly typeId: string };
  /** Default: the node's id. */
  readonly name?: string;
  readonly config?: JsonObject;
  readonly inputs?: Readonly<Record<string, PortValue>>;
  readonly settings?: JsonObject;
  /** The agent that the node acts as: its id, or the result of `defineAgent`. */
  readonly agent?: string | { readonly agentId: string };
  readonly outputRole?: 'primary' | 'secondary';
  readonly disabled?: boolean;
}

export interface EdgeOptions<NodeId extends string> {
  readonly from: NodeId;
  readonly to: NodeId;
  /** The source's output port. Default `output`. */
  readonly port?: string;
  /** The target's input. Default `input`. */
  readonly input?: string;
  /** A CEL expression, or a condition in wire format. */
  readonly when?: string | EdgeCondition;
  /** Default `all_success`. */
  readonly rule?: TriggerRule;
}

export interface WorkflowOptions<NodeId extends string> {
  readonly id: string;
  /** Default: derived from the content when the workflow is registered. */
  readonly version?: string;
  /** Default: the id. */
  readonly name?: string;
  readonly description?: string;
  readonly nodes: Readonly<Record<NodeId, NodeOptions>>;
  /** Default: a chain in the order of `nodes`. */
  readonly edges?: readonly EdgeOptions<NoInfer<NodeId>>[];
  readonly variables?: Readonly<Record<string, Omit<WorkflowVariable, 'name'>>>;
  readonly channels?: WorkflowDefinition['channels'];
  readonly settings?: WorkflowDefinition['settings'];
  readonly metadata?: JsonObject;
}

const workflowOptions: OptionNames<WorkflowOptions<string>> = {
  id: true,
  version: true,
  name: true,
  description: true,
  nodes: true,
  edges: true,
  variables: true,
  channels: true,
  settings: true,
  metadata: true,
};
const nodeOptions: OptionNames<NodeOptions> = {
  type: true,
  name: true,
  config: true,
  inputs: true,
  settings: true,
  agent: true,
  outputRole: true,
  disabled: true,
};
const edgeOptions: OptionNames<EdgeOptions<string>> = {
  from: true,
  to: true,
  port: true,
  input: true,
  when: true,
  rule: true,
};

/**
 * Throws `config_invalid` for unknown options, and `validation_error` when the result is not a valid definition.
 * Registration checks the rest.
 */
export function defineWorkflow<const NodeId extends string>(
  options: WorkflowOptions<NodeId> & { readonly version: string },
): WorkflowDefinition;
export function defineWorkflow<const NodeId extends string>(options: WorkflowOptions<NodeId>): AuthoredWorkflow;
export function defineWorkflow<const NodeId extends string>(options: WorkflowOptions<NodeId>): AuthoredWorkflow {
  refuseUnknownOptions(`The workflow ${quoted(options.id, 120)}`, options, workflowOptions);
  const ids = Object.keys(options.nodes) as NodeId[];
  const edges = options.edges ?? inARow(ids);
  const { version, description, channels } = options;
  return parseAuthoredWorkflow({
    id: options.id,
    name: options.name ?? options.id,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    nodes: ids.map((id, index) => nodeOf(id, options.nodes[id], index)),
    edges: numbered(edges.map(edgeOf)),
    triggers: [],
    variables: Object.entries(options.variables ?? {}).map(([name, variable]) => ({ name, ...variable })),
    ...(channels === undefined ? {} : { channels }),
    metadata: options.metadata ?? {},
    settings: options.settings ?? {},
  });
}

/** Values for a node's inputs. Their types keep the names, so that `defineWorkflow` can check them. */
export const fixed = <const Value extends Json>(value: Value) => ({ type: 'static', value }) as const;
/** A CEL expression over `inputs`, `variables` and the outputs of nodes. */
export const expression = (text: string) => ({ type: 'expression', expression: text }) as const;
export const variable = <const Name extends string>(variableName: Name) =>
  ({ type: 'variable', variableName }) as const;
/** An output of another node; without a key, all its outputs. */
export function outputOf<const NodeId extends string>(nodeId: NodeId): OutputRef<NodeId, 'output'>;
export function outputOf<const NodeId extends string, const Key extends string>(
  nodeId: NodeId,
  outputKey: Key,
): OutputRef<NodeId, Key>;
export function outputOf(nodeId: string, outputKey = 'output'): OutputRef<string, string> {
  return { type: 'connection', nodeId, outputKey };
}

export interface OutputRef<NodeId extends string, Key extends string> {
  readonly type: 'connection';
  readonly nodeId: NodeId;
  readonly outputKey: Key;
}

/** Connects each node to the next. */
const inARow = <NodeId extends string>(ids: readonly NodeId[]): EdgeOptions<NodeId>[] =>
  ids.flatMap((to, index) => {
    const from = ids[index - 1];
    return from === undefined ? [] : [{ from, to }];
  });

/** Positions the nodes left to right in order, as a starting layout for an editor. */
function nodeOf(id: string, options: NodeOptions, index: number): WorkflowNode {
  refuseUnknownOptions(`The node ${quoted(id, 120)}`, options, nodeOptions);
  const { type, name = id, config = {}, inputs = {}, settings, agent, outputRole, disabled } = options;
  return {
    id,
    typeId: typeof type === 'string' ? type : type.typeId,
    name,
    position: { x: index * 240, y: 0 },
    config,
    inputs,
    ...(settings === undefined ? {} : { settings }),
    ...(agent === undefined ? {} : { agent: { agentId: typeof agent === 'string' ? agent : agent.agentId } }),
    ...(outputRole === undefined ? {} : { outputRole }),
    ...(disabled === undefined ? {} : { disabled }),
  };
}

function edgeOf(options: EdgeOptions<string>): WorkflowEdge {
  const { from, to, port, input, when, rule } = options;
  refuseUnknownOptions(`The edge from ${quoted(from, 120)} to ${quoted(to, 120)}`, options, edgeOptions);
  const condition: EdgeCondition | undefined =
    typeof when === 'string' ? { type: 'expression', expression: when } : when;
  return {
    id: `${from}-${to}`,
    sourceNodeId: from,
    targetNodeId: to,
    ...(port === undefined ? {} : { sourceOutput: port }),
    ...(input === undefined ? {} : { targetInput: input }),
    ...(condition === undefined ? {} : { condition }),
    ...(rule === undefined ? {} : { triggerRule: rule }),
  };
}

/** An edge id consists of its source and target. Further edges between the same nodes get a number. */
function numbered(edges: readonly WorkflowEdge[]): WorkflowEdge[] {
  const seen = new Map<string, number>();
  return edges.map((edge) => {
    const count = (seen.get(edge.id) ?? 0) + 1;
    seen.set(edge.id, count);
    return count === 1 ? edge : { ...edge, id: `${edge.id}-${count}` };
  });
}
