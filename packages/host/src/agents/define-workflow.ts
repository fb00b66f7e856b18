/**
 * `defineWorkflow` for programs. The definition types itself: the config of a node by its type, `variable` by the
 * declared variables, `outputOf` and the edges by the nodes.
 */
import type { AuthoredWorkflow, Closed, JsonObject, WorkflowDefinition, WorkflowVariable } from '@cairn/protocol';
import type { dispatch } from '../engine/nodes/dispatch.ts';
import type { CoreNode } from '../engine/nodes/node-types.ts';
import type { InputOfStep, ResultOfStep } from '../engine/workflow/define-step.ts';
import {
  defineWorkflow as definePlain,
  type EdgeOptions,
  type NodeOptions as PlainNode,
  type WorkflowOptions as PlainWorkflow,
} from '../engine/workflow/define-workflow.ts';
import type { DefinedNodeType, NodeType } from '../engine/workflow/node-type.ts';
import type { createAgentNodes } from './loop/agent-node.ts';
import type { createSupervisor } from './orchestration/supervisor.ts';

type HostNode =
  | CoreNode
  | ReturnType<typeof createAgentNodes>[number]
  | ReturnType<typeof createSupervisor>
  | typeof dispatch;

/** The config of every built-in node type, by its typeId. */
export type NodeConfigs = { readonly [Node in HostNode as Node['typeId']]: WrittenConfig<Node> };

type WrittenConfig<Node extends NodeType> =
  Node extends DefinedNodeType<string, infer Written> ? Closed<Written> : never;

/** A node type in a definition: a step, or a typeId. */
type TypeOfNode = string | { readonly typeId: string };

type ConfigOf<Type> = Type extends keyof NodeConfigs
  ? NodeConfigs[Type]
  : Type extends string
    ? JsonObject
    : Partial<InputOfStep<Type>>;

/** A missing config is an empty one. */
type ConfigField<Type> =
  Record<never, never> extends ConfigOf<Type>
    ? { readonly config?: ConfigOf<Type> }
    : { readonly config: ConfigOf<Type> };

type KeysOf<Data> = string extends keyof Data ? string : keyof Data & string;

/** `output` is all outputs of a node. The other names of a step are the fields of its result. */
type OutputKeyOf<Type> = Type extends string
  ? string
  : unknown extends ResultOfStep<Type>
    ? string
    : 'output' | (ResultOfStep<Type> extends object ? KeysOf<ResultOfStep<Type>> : never);

/** The names of a step's inputs are the fields of its input; `input` is spread into them. */
type InputNameOf<Type> = Type extends string ? string : KeysOf<InputOfStep<Type>> | 'input';

/** A value for an input of a node. */
type PortOf<Types, Variable extends string> =
  | { readonly type: 'static'; readonly value: JsonObject[string] }
  | { readonly type: 'expression'; readonly expression: string }
  | { readonly type: 'variable'; readonly variableName: Variable; readonly optional?: boolean }
  | ConnectionOf<Types>;

type ConnectionOf<Types> = {
  readonly [Id in keyof Types & string]: {
    readonly type: 'connection';
    readonly nodeId: Id;
    readonly outputKey: OutputKeyOf<Types[Id]>;
    readonly optional?: boolean;
  };
}[keyof Types & string];

export type NodeOptions<Type, Types, Variable extends string> = Omit<PlainNode, 'type' | 'config' | 'inputs'> & {
  /** A step, or the typeId of another node type. */
  readonly type: Type;
  readonly inputs?: { readonly [Name in InputNameOf<NoInfer<Type>>]?: PortOf<NoInfer<Types>, NoInfer<Variable>> };
} & ConfigField<NoInfer<Type>>;

/** `Types` has the type of each node by its id; `Variable` is the union of the names of the variables. */
export interface WorkflowOptions<Types, Variable extends string, Version extends string = string>
  extends Omit<PlainWorkflow<string>, 'version' | 'nodes' | 'edges' | 'variables'> {
  /** Default: derived from the content when the workflow is registered. */
  readonly version?: Version;
  readonly nodes: { readonly [Id in keyof Types]: NodeOptions<Types[Id], Types, Variable> };
  /** Default: a chain in the order of `nodes`. */
  readonly edges?: readonly EdgeOptions<NoInfer<keyof Types & string>>[];
  readonly variables?: Readonly<Record<Variable, Omit<WorkflowVariable, 'name'>>>;
}

type DefineWorkflow = <
  const Types extends Readonly<Record<string, TypeOfNode>>,
  const Variable extends string = never,
  Version extends string = never,
>(
  options: WorkflowOptions<Types, Variable, Version>,
) => [Version] extends [never] ? AuthoredWorkflow : WorkflowDefinition;

/**
 * Throws `config_invalid` for unknown options, and `validation_error` when the result is not a valid definition.
 * Registration checks the rest.
 */
export const defineWorkflow = definePlain as DefineWorkflow;
