/** Builds a workflow in code. The result is the plain definition that a client would register; no code is replayed. */
import {
  type AuthoredWorkflow,
  type EdgeCondition,
  type Json,
  type JsonObject,
  type PortValue,
  parseAuthoredWorkflow,
  type TriggerRule,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowVariable,
} from '@cairn/protocol';

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

/** Throws `validation_error` when the result is not a valid definition. Registration checks the rest. */
export function defineWorkflow<const NodeId extends string>(
  options: WorkflowOptions<NodeId> & { readonly version: string },
): WorkflowDefinition;
export function defineWorkflow<const NodeId extends string>(options: WorkflowOptions<NodeId>): AuthoredWorkflow;
export function defineWorkflow<const NodeId extends string>(options: WorkflowOptions<NodeId>): AuthoredWorkflow {
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

/** Values for a node's inputs. */
export const fixed = (value: Json): PortValue => ({ type: 'static', value });
export const expression = (text: string): PortValue => ({ type: 'expression', expression: text });
export const variable = (variableName: string): PortValue => ({ type: 'variable', variableName });
/** An output of another node; without a key, all its outputs. */
export const outputOf = (nodeId: string, outputKey = 'output'): PortValue => ({
  type: 'connection',
  nodeId,
  outputKey,
});

/** Connects each node to the next. */
const inARow = <NodeId extends string>(ids: readonly NodeId[]): EdgeOptions<NodeId>[] =>
  ids.flatMap((to, index) => {
    const from = ids[index - 1];
    return from === undefined ? [] : [{ from, to }];
  });

/** Positions the nodes left to right in order, as a starting layout for an editor. */
function nodeOf(id: string, options: NodeOptions, index: number): WorkflowNode {
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

function edgeOf({ from, to, port, input, when, rule }: EdgeOptions<string>): WorkflowEdge {
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
