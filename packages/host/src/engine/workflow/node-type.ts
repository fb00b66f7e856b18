/**
 * A node type defines the config schema and the behaviour of a kind of node. It is the main extension point of the
 * engine. To add one, write it in a file under `nodes/` and list it in `nodes/node-types.ts`:
 *
 *     export const greet = defineNodeType({
 *       typeId: 'core.greet',
 *       config: z.strictObject({ greeting: z.string().optional() }),
 *       begin: ({ config, inputs }) => ({
 *         kind: 'complete',
 *         outputs: { text: `${config.greeting ?? 'Hello'}, ${inputs.name}` },
 *       }),
 *     });
 *
 * A node type is pure: it reads its context and returns an action, with its side effects. The context carries the time.
 *
 * Read first `NodeType`, `NodeContext`, `NodeAction`, then `NodeDriver` for nodes that make many calls. The types of a
 * compiled workflow refer to the node types, and share this file.
 */
import type {
  ChannelDeclaration,
  FoldEvent,
  InterruptView,
  JsonObject,
  RunId,
  TriggerRule,
  WorkflowDefinition,
  WorkflowNode,
} from '@cairn/protocol';
import type { z } from 'zod';
import type { CallCancel } from '../core/control/call-cancel.ts';
import type { Answer, Draft, Effect, OpenCall, RunError, RunState, Timer } from '../core/state.ts';
import type { Budget } from '../family/account.ts';
import type { RecordedCalls } from '../fork/recorded-calls.ts';
import type { Agents, Pinned } from '../pins/pinned.ts';
import type { StepSafety } from '../ports.ts';
import type { ChannelReaders } from '../values/channel-access.ts';
import type { CostBudget } from '../values/cost-budget.ts';
import type { Expression } from '../values/expressions.ts';
import type { Condition } from './conditions.ts';
import type { AttemptPlace, CallResult, RunChange, SentAnswer } from './driven-calls.ts';
import type { NodeDoc } from './node-doc.ts';
import type { RetryPolicy } from './node-settings.ts';

export interface NodeType<Config = unknown, Inner extends object = object> {
  /** The name that definitions use for it. */
  readonly typeId: string;
  /**
   * The schema of a node's `config`: parser, type and JSON Schema in one. The engine parses a config when it compiles
   * the workflow, never during a run. Rules that need the rest of the definition belong in `check`.
   */
  readonly config: z.ZodType<Config>;
  /** For authors, and for the checks of references. Without it, other nodes may refer to any output. */
  readonly doc?: NodeDoc | undefined;
  /** Settings that hold a CEL expression. */
  readonly expressions?: readonly string[];
  /** The variables of the run that a node sets and reads by its config. */
  variables?(config: Config): { readonly sets?: readonly string[]; readonly reads?: readonly string[] };
  /** The channel that a node writes, for workflows that do not declare it. */
  channel?(config: Config): ChannelDeclaration & { readonly name: string };
  /** Settings whose values earlier hosts ignored when they had another type. A stored definition may have them. */
  readonly onceIgnored?: readonly string[];
  /** Starts the node. A thrown CairnError fails the node. */
  begin(context: NodeContext<Config>): NodeAction;
  /** Continues the node after an answer to its interrupt. */
  resume?(context: NodeContext<Config>, answer: Answer): NodeAction;
  /** Continues the node after its timer fires. */
  fired?(context: NodeContext<Config>, timer: Timer): NodeAction;
  /** Checks the config against the rest of the definition when the workflow is registered. */
  check?(node: ConfiguredNode<Config>): readonly Problem[];
  /** Checks a node against the options of a new run when the run is created. */
  checkRun?(node: ConfiguredNode<Config>, run: NewRunFacts): readonly string[];
  /** The model of a node that acts as an agent, in a new run; null if none is configured. */
  modelOf?(node: ConfiguredNode<Config>, run: NewRunFacts): string | null;
  /** For nodes that request an effect: whether the effect may be repeated. */
  readonly safety?: StepSafety;
  /** For nodes that make many calls: takes over after `begin`. */
  readonly driver?: NodeDriver<Inner, Config>;
  /** Whether a node acts as the agent it names. That agent must then exist when a run starts. */
  actsAsAgent?(node: ConfiguredNode<Config>): boolean;
  /** Only the host makes such nodes, and its tasks are of this agent. No catalogue shows the type. */
  readonly hostAgent?: string;
  /** The prompt templates that a node refers to, in short form. A run pins them when it starts. */
  promptRefs?(node: ConfiguredNode<Config>): readonly string[];
  /** The ids of further agents that a config names. */
  otherAgents?(config: Config): readonly string[];
  /** Its nodes carry out the latest decision of a supervisor. */
  readonly dispatches?: boolean;
  /** A runtime capability that this host lacks. Such a node fails without being executed. */
  readonly missingCapability?: string;
}

/** A node type whose name the compiler knows, and its config as definitions write it. */
export type DefinedNodeType<TypeId extends string, Written> = NodeType & {
  readonly typeId: TypeId;
  readonly config: z.ZodType<unknown, Written>;
};

/**
 * Infers the type of the config from the schema. The engine passes a node only a config that this schema parsed, so the
 * result can drop the parsed type. It keeps the written type, for definitions in code.
 */
export const defineNodeType = <const TypeId extends string, Config, Written, Inner extends object = object>(
  type: { readonly typeId: TypeId; readonly config: z.ZodType<Config, Written> } & NodeType<NoInfer<Config>, Inner>,
): DefinedNodeType<TypeId, Written> => type;

/** The node types a host can run, by typeId. */
export type NodeTypeRegistry = ReadonlyMap<string, NodeType>;

/** A node of a definition, and its `config` as parsed by the node type. */
export interface ConfiguredNode<Config = unknown> {
  readonly config: Config;
  readonly node: WorkflowNode;
  readonly definition: WorkflowDefinition;
}

/** A problem in a definition and its location. */
export interface Problem {
  /** The path to the location, from the node or from the definition. */
  readonly path: readonly PropertyKey[];
  /** The part of the definition that has the problem, by its id: `node wait`. */
  readonly of?: string;
  readonly message: string;
}

/** A run that is being created. */
export interface NewRunFacts {
  readonly configurable: JsonObject;
  readonly budget: Budget;
  readonly agents: Agents;
}

/** A node when it starts, receives an answer, or its timer fires. */
export interface NodeContext<Config = unknown> extends Pinned {
  readonly runId: RunId;
  /** The node from the definition. */
  readonly node: WorkflowNode;
  /** The `config` as parsed by the node type. */
  readonly config: Config;
  readonly compiled: CompiledNode;
  /** Resolved when the visit starts; retries reuse them. */
  readonly inputs: JsonObject;
  /** Number of earlier visits to this node. */
  readonly visit: number;
  /** Number of earlier attempts in this visit. */
  readonly attempt: number;
  /** Number of re-entries by a back edge since the node was entered from outside its loop. */
  readonly iteration: number;
  /** Nodes whose edges triggered this one. */
  readonly sources: readonly string[];
  /** Time of the last event. */
  readonly now: number;
  /** Number of attempts in this visit that a pause interrupted. */
  readonly abandoned: number;
  /** Number of attempts of this visit's call. */
  readonly callAttempts: number;
  /** What the expressions of this decision may still cost, all together. */
  readonly expressionBudget: CostBudget;
  /** Read-only. */
  readonly state: Readonly<RunState>;
}

/** A draft without a cause gets the event that triggered the action. */
export type NodeAction =
  | {
      readonly kind: 'complete';
      readonly outputs: JsonObject;
      /** Output ports to activate. Default: `output` and the names of the outputs. */
      readonly ports?: readonly string[];
      readonly drafts?: readonly Draft[];
      /** The agent that did the work, when it is no longer the one the node names. */
      readonly agentId?: string;
      /** Ends the run, even if other nodes are still active. */
      readonly endsRun?: { readonly reason: string | null };
    }
  | { readonly kind: 'fail'; readonly error: RunError; readonly drafts?: readonly Draft[] }
  | { readonly kind: 'wait'; readonly drafts: readonly Draft[]; readonly effects?: readonly Effect[] };

/** The context of a driven node, with its driver's state. */
export interface DrivenContext<Inner extends object = object, Config = unknown> extends NodeContext<Config> {
  /** Read-only: only `evolve` changes it. */
  readonly inner: Inner;
}

/**
 * Drives a node through many calls. The driver derives its state from the node's rows, so an interrupted run continues
 * at the next call without a recorded result.
 */
export interface NodeDriver<Inner extends object = object, Config = unknown> {
  /** The state at the start of an attempt. Plain JSON: it is checkpointed with the run. */
  fresh(node: ConfiguredNode<Config>): Inner;
  /**
   * The change that a row makes to the run: the driver declares which of its rows open and close calls. The engine
   * itself handles `cairn.step.requested` and `cairn.step.returned`.
   */
  runChange?(event: FoldEvent): RunChange | null;
  /** How branches and replays read the rows of its calls in a record. */
  readonly recorded?: RecordedCalls;
  /** Applies a row of the node to the state, in place. Does not receive the rows that start and end the node. */
  evolve(inner: Inner, event: FoldEvent, place: AttemptPlace): void;
  /** The rows that record an answer to an interrupt; without it, or for null, its kind decides. Throws to refuse it. */
  answer?(context: DrivenContext<Inner, Config>, interrupt: InterruptView, sent: SentAnswer): readonly Draft[] | null;
  /** The next action, or null to wait for an event. The engine calls it again after each action. */
  next(context: DrivenContext<Inner, Config>): NodeAction | null;
  /** The input of a call. Not copied. */
  callInput(context: DrivenContext<Inner, Config>, call: OpenCall): JsonObject;
  /** The description of an interrupted call that a person sees. Default: the call's input. */
  about?(context: DrivenContext<Inner, Config>, call: OpenCall): JsonObject;
  /** The rows that record the result of a call; one of them closes it. `now` is the time of the result. */
  returned(context: DrivenContext<Inner, Config>, call: OpenCall, result: CallResult): readonly Draft[];
  /** The rows that request the next attempt of an open call: its performer is gone, or a human asked for a retry. */
  again(context: DrivenContext<Inner, Config>, call: OpenCall): readonly Draft[];
  /** The rows that cancel a call which waits for input; null if there is none. */
  cancelled?(context: DrivenContext<Inner, Config>, callId: string, cancel: CallCancel): readonly Draft[] | null;
  /** The rows that close the node's open calls or conversation when it times out or its run ends. */
  stopped?(context: DrivenContext<Inner, Config>): readonly Draft[];
  /** Whether the attempt has made an external change that a retry would repeat. */
  hasWritten?(inner: Inner): boolean;
}

export interface CompiledEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  /** The source's output port; null when the definition names none, which means `output`. */
  readonly port: string | null;
  /** The target's input; null when the definition names none, which means `input`. */
  readonly input: string | null;
  readonly rule: TriggerRule;
  readonly condition: Condition | null;
  /** Whether the edge closes a loop. A back edge re-enters its target on its own. */
  readonly back: boolean;
  /** Index of the edge's group in its target's groups. */
  readonly group: number;
  /** The outermost loop that the edge leaves; null when it leaves none. */
  readonly exits: number | null;
}

/** Forward edges of one target that share a rule. */
export interface EdgeGroup {
  readonly rule: TriggerRule;
  readonly size: number;
}

export interface CompiledNode {
  readonly id: string;
  readonly node: WorkflowNode;
  /** The node's workflow. */
  readonly definition: WorkflowDefinition;
  readonly type: NodeType;
  /** The `config` as parsed by the node type, once for all runs. */
  readonly config: unknown;
  /** Incoming forward edges. */
  readonly in: readonly CompiledEdge[];
  readonly groups: readonly EdgeGroup[];
  readonly out: readonly CompiledEdge[];
  /** Enclosing loops, innermost first. */
  readonly loops: readonly number[];
  readonly isLoopHead: boolean;
  /** Whether an outgoing edge handles the node's failure, so that the run continues. */
  readonly handlesFailure: boolean;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** The declared variables without a default. They are null until they get a value. */
  readonly undefaulted: readonly string[];
  readonly channelReaders: ChannelReaders;
  /** Compiled input expressions, by input name. */
  readonly expressions: ReadonlyMap<string, Expression>;
  /** The maximum cost of the expressions in one decision about the node. */
  readonly expressionCost: number;
  /** Driven nodes that may be active at the same time. */
  readonly concurrentNodes: () => readonly CompiledNode[];
}

export interface Workflow extends Pinned {
  readonly definition: WorkflowDefinition;
  readonly hash: string;
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  readonly edges: ReadonlyMap<string, CompiledEdge>;
  readonly entries: readonly string[];
  /** For each loop, the forward edges that leave it and no loop outside it. */
  readonly loopExits: readonly (readonly CompiledEdge[])[];
  /** The maximum number of times a run may follow one back edge; null when only the run's own limit applies. */
  readonly maxLoopbacks: number | null;
}
