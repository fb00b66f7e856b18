/**
 * A node type: what a kind of node may be configured with, and what its nodes do. This is the main extension point of
 * the engine. To add one, write it in a file under `nodes/` and list it in `nodes/node-types.ts`:
 *
 *     export const greet = defineNodeType({
 *       typeId: 'core.greet',
 *       config: z.looseObject({ greeting: z.string().optional() }),
 *       begin: ({ config, inputs }) => ({
 *         kind: 'complete',
 *         outputs: { text: `${config.greeting ?? 'Hello'}, ${inputs.name}` },
 *       }),
 *     });
 *
 * A node type is pure: it reads the context it is given and answers with an action. It never waits, reads a clock or
 * calls anything; what has to happen outside is an effect of its action, and time enters with the context.
 *
 * Read on in this order: `NodeType`, `NodeContext`, `NodeAction`, then `NodeDriver` for nodes that make many calls. The
 * shapes of a compiled workflow come last; they refer to node types and node types to them, so they share this file.
 */
import type {
  FoldEvent,
  InterruptView,
  Json,
  JsonObject,
  OrchestratorDecision,
  RunId,
  TriggerRule,
  WorkflowDefinition,
  WorkflowNode,
} from '@cairn/protocol';
import type { z } from 'zod';
import type { Answer, Draft, Effect, OpenCall, RunError, RunState, StepResult, Timer } from '../core/state.ts';
import type { Budget } from '../family/account.ts';
import type { AgentDefinition, StepSafety } from '../ports.ts';
import type { Expression } from '../values/expressions.ts';
import type { Condition } from './conditions.ts';
import type { RetryPolicy } from './node-settings.ts';

export interface NodeType<Config = unknown, Inner extends object = object> {
  /** What a definition names it by. */
  readonly typeId: string;
  /**
   * What the `config` of a node may hold: parser, type and JSON Schema in one. It is parsed when a workflow is compiled,
   * never in a run. Whatever needs the rest of the definition belongs in `check`.
   */
  readonly config: z.ZodType<Config>;
  /** What starting the node leads to. May throw a CairnError, which fails the node. */
  begin(context: NodeContext<Config>): NodeAction;
  /** What an answer to its question leads to. */
  resume?(context: NodeContext<Config>, answer: Answer): NodeAction;
  /** What its timer leads to. */
  fired?(context: NodeContext<Config>, timer: Timer): NodeAction;
  /** Problems that the config has with the rest of the definition, found when the workflow is registered. */
  check?(node: NodeToCheck<Config>): readonly Problem[];
  /** Problems that a run as it is asked for would have with a node, found when the run is created. */
  checkRun?(node: WorkflowNode, run: NewRunFacts): readonly string[];
  /** Of nodes that ask for an effect: whether it may be repeated. */
  readonly safety?: StepSafety;
  /** Of nodes that make many calls; then `begin` leaves the rest to it. */
  readonly driver?: NodeDriver<Inner, Config>;
  /** Whether a node acts as the agent it names, which must then be known when a run starts. */
  actsAsAgent?(node: WorkflowNode): boolean;
  /** Its nodes carry out what a supervisor has decided last. */
  readonly dispatches?: boolean;
  /** A runtime capability this host does not have: such a node fails without being executed. */
  readonly missingCapability?: string;
}

/**
 * A node type with the type of its config taken from the schema. The engine hands a node only the config that this very
 * schema parsed, so from here on the type of the config is no longer needed.
 */
export const defineNodeType = <Config, Inner extends object = object>(
  type: { readonly config: z.ZodType<Config> } & NodeType<NoInfer<Config>, Inner>,
): NodeType => type;

/** The kinds of node a host can run, by typeId. */
export type NodeTypeRegistry = ReadonlyMap<string, NodeType>;

/** A node of a definition that is about to be registered. */
export interface NodeToCheck<Config = unknown> {
  readonly config: Config;
  readonly node: WorkflowNode;
  readonly definition: WorkflowDefinition;
}

/** What is wrong with a definition, and where. */
export interface Problem {
  /** From the node, or from the definition, down to the place. */
  readonly path: readonly PropertyKey[];
  /** The part of the definition that it is about, by its id: `node wait`. */
  readonly of?: string;
  readonly message: string;
}

/** A run that is about to be created. */
export interface NewRunFacts {
  readonly configurable: JsonObject;
  readonly budget: Budget;
  readonly agents: Agents;
}

/** A node at the moment it starts, is answered, or has its timer fire. */
export interface NodeContext<Config = unknown> {
  readonly runId: RunId;
  /** The node as the definition has it. */
  readonly node: WorkflowNode;
  /** Its `config` as its type parsed it. */
  readonly config: Config;
  readonly compiled: CompiledNode;
  /** Resolved when the node started afresh; the same for its retries. */
  readonly inputs: JsonObject;
  /** Fresh starts of this node before this one. */
  readonly visit: number;
  /** Attempts of this visit before this one. */
  readonly attempt: number;
  /** Re-entries by a back edge since the node was entered from outside its loop. */
  readonly iteration: number;
  /** Nodes whose edges brought the run here. */
  readonly sources: readonly string[];
  /** Instant of the last event. */
  readonly now: number;
  /** Attempts of this visit that a pause cut short. */
  readonly abandoned: number;
  /** Attempts made of this visit's call. */
  readonly callAttempts: number;
  readonly agents: Agents;
  /** For reading only. */
  readonly state: Readonly<RunState>;
}

/** Drafts without a cause get the event that led here. */
export type NodeAction =
  | {
      readonly kind: 'complete';
      readonly outputs: JsonObject;
      /** Output ports this activates; left out: `output` and the names of the outputs. */
      readonly ports?: readonly string[];
      readonly drafts?: readonly Draft[];
      /** The agent that did it, when that is no longer the one the node names. */
      readonly agentId?: string;
      /** The run is over with it, whatever else is going on. */
      readonly endsRun?: { readonly reason: string | null };
    }
  | { readonly kind: 'fail'; readonly error: RunError; readonly drafts?: readonly Draft[] }
  | { readonly kind: 'wait'; readonly drafts: readonly Draft[]; readonly effects?: readonly Effect[] };

/** A driven node, with what its driver keeps of it. */
export interface DrivenContext<Inner extends object = object, Config = unknown> extends NodeContext<Config> {
  /** For reading only: it changes by `evolve` alone. */
  readonly inner: Inner;
}

/** A call that a row of a driven node asks for. */
export type RequestedCall = Pick<OpenCall, 'callId' | 'step' | 'safety' | 'attempt' | 'recoveries'>;

/** What a row of a driven node changes in its run, beside what the driver keeps. */
export type RunChange =
  | { readonly kind: 'call-opened'; readonly call: RequestedCall }
  | { readonly kind: 'call-closed'; readonly callId: string; readonly attempt: number }
  /** For the next node that carries decisions out. */
  | { readonly kind: 'decided'; readonly agentId: string; readonly decision: OrchestratorDecision };

/** An answer to a question as somebody sent it. */
export interface SentAnswer {
  readonly value: Json;
  /** Who sent it, by the credential. */
  readonly principal: string | undefined;
  readonly now: number;
}

/** What came of a call: what its performer gave or threw, or what a human says of one that was interrupted. */
export type CallResult = StepResult | { readonly given: Json };

/**
 * Drives a node through many calls. What it knows of the node follows from the node's rows, so that a run that was left in
 * the middle goes on at the next call that has no recorded result.
 */
export interface NodeDriver<Inner extends object = object, Config = unknown> {
  /** What is known when an attempt of the node begins. Plain JSON: it is checkpointed with the run. */
  fresh(node: WorkflowNode): Inner;
  /**
   * What a row of the node changes in its run: the driver declares which of its rows open and close calls. It need not
   * mention `cairn.step.requested` and `cairn.step.returned`, which the engine itself knows.
   */
  runChange?(event: FoldEvent): RunChange | null;
  /** Takes in a row of the node, in place; all but those by which the node itself starts and ends. */
  evolve(inner: Inner, event: FoldEvent): void;
  /** The rows that record an answer to a question of the node; null, or left out: as the question's kind has it. Throws to refuse. */
  answer?(context: DrivenContext<Inner, Config>, interrupt: InterruptView, sent: SentAnswer): readonly Draft[] | null;
  /** What follows; null until something happens. Asked again after each of its decisions. */
  next(context: DrivenContext<Inner, Config>): NodeAction | null;
  /** What a call is performed with. Not copied. */
  callInput(context: DrivenContext<Inner, Config>, call: OpenCall): JsonObject;
  /** What a person is told of a call that was interrupted; left out: what it is performed with. */
  about?(context: DrivenContext<Inner, Config>, call: OpenCall): JsonObject;
  /** The rows that record what came of a call; one of them closes it. `now` is when it came. */
  returned(context: DrivenContext<Inner, Config>, call: OpenCall, result: CallResult): readonly Draft[];
  /** The rows that ask for an open call once more, as its next attempt: its performer is gone, or a human said so. */
  again(context: DrivenContext<Inner, Config>, call: OpenCall): readonly Draft[];
  /** The rows that close what it has open, when the node is ended from outside: out of time, or with its run. */
  stopped?(context: DrivenContext<Inner, Config>): readonly Draft[];
  /** Whether the attempt has changed something outside, which another one would change again. */
  hasWritten?(inner: Inner): boolean;
}

export interface CompiledEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  /** The output port it leaves by; null when the definition names none, which means `output`. */
  readonly port: string | null;
  /** The input it arrives at; null when the definition names none, which means `input`. */
  readonly input: string | null;
  readonly rule: TriggerRule;
  readonly condition: Condition | null;
  /** It closes a loop: it re-enters its target by itself. */
  readonly back: boolean;
  /** Which of its target's groups it counts for. */
  readonly group: number;
  /** The outermost loop it leaves; null when it stays where it is. */
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
  /** The workflow it belongs to. */
  readonly definition: WorkflowDefinition;
  readonly type: NodeType;
  /** Its `config` as its type parsed it: once, for all runs. */
  readonly config: unknown;
  /** Forward edges into it. */
  readonly in: readonly CompiledEdge[];
  readonly groups: readonly EdgeGroup[];
  readonly out: readonly CompiledEdge[];
  /** Loops around it, innermost first. */
  readonly loops: readonly number[];
  readonly isLoopHead: boolean;
  /** An edge out of it waits for its failure, so that the run goes on. */
  readonly handlesFailure: boolean;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
  /** Compiled texts of its input expressions, by input. */
  readonly expressions: ReadonlyMap<string, Expression>;
  /** Driven nodes that may be at work at the same time. */
  readonly concurrentNodes: () => readonly CompiledNode[];
}

export interface Workflow {
  readonly definition: WorkflowDefinition;
  readonly hash: string;
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  readonly edges: ReadonlyMap<string, CompiledEdge>;
  readonly entries: readonly string[];
  /** Per loop, the forward edges whose outermost loop it is. */
  readonly loopExits: readonly (readonly CompiledEdge[])[];
  /** How often one back edge may be followed; null when only the run's own limit counts. */
  readonly maxLoopbacks: number | null;
  /** The agents its nodes may act as, by id, as the run was pinned to them. */
  readonly agents: Agents;
}

/** Definitions of agents, by agentId; what is in one is for those who drive agents. */
export type Agents = ReadonlyMap<string, AgentDefinition>;
