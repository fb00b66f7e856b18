/** What a kind of node is to the engine: pure functions from what is known to what should happen next. */
import type { Json, JsonObject, RunId, WorkflowDefinition, WorkflowNode } from '@cairn/protocol';
import type { Scope } from '../expressions.ts';
import type { StepSafety } from '../ports.ts';
import type { Answer, Draft, Effect, RunError, RunState, Timer } from '../state.ts';
import type { CompiledNode } from '../workflow.ts';

/** What a node's configured expression gives in a run. */
export type Program = (scope: Scope) => Json;

/** A node at the moment it starts, is answered, or has its timer fire. */
export interface NodeContext {
  readonly runId: RunId;
  readonly node: WorkflowNode;
  readonly compiled: CompiledNode;
  /** Resolved when the node started afresh; the same for its retries. */
  readonly inputs: JsonObject;
  /** Fresh starts of this node before this one. */
  readonly visit: number;
  /** Retries of this visit before this attempt. */
  readonly attempt: number;
  /** Re-entries by a back edge since the node was entered from outside its loop. */
  readonly iteration: number;
  /** Nodes whose edges brought the run here. */
  readonly sources: readonly string[];
  /** Instant of the last event. */
  readonly now: number;
  /** Attempts made of this visit's call. */
  readonly callAttempts: number;
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
    }
  | { readonly kind: 'fail'; readonly error: RunError }
  | { readonly kind: 'wait'; readonly drafts: readonly Draft[]; readonly effects?: readonly Effect[] };

export interface NodeType {
  readonly typeId: string;
  /** A runtime capability this host does not have: such a node fails without being executed. */
  readonly missingCapability?: string;
  /** Of nodes that ask for an effect. */
  readonly safety?: StepSafety;
  /** Problems of a node's configuration, found when its workflow is registered. */
  check(node: WorkflowNode, definition: WorkflowDefinition): readonly string[];
  /** The expression in its configuration, compiled once for all runs. */
  prepare?(node: WorkflowNode): Program | null;
  /** What starting the node leads to. May throw a CairnError, which fails the node. */
  begin(context: NodeContext): NodeAction;
  resume?(context: NodeContext, answer: Answer): NodeAction;
  fired?(context: NodeContext, timer: Timer): NodeAction;
}

export const noProblems: readonly string[] = [];

/** A result as a node's outputs: an object is the outputs, anything else is the output called `output`. */
export const asOutputs = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : ({ output: value } as JsonObject);

/** A node's inputs as a value of its own: what came over a plain edge is spread, named inputs win. */
export function passedOn(inputs: JsonObject): JsonObject {
  const { input, ...named } = inputs;
  return input === undefined ? inputs : { ...(asOutputs(input) as JsonObject), ...named };
}
