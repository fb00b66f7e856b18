/** Runs a workflow against the engine's pure core alone: no store, no clock. The test supplies each fact. */
import {
  audienceOf,
  checkRow,
  type DrainPolicy,
  type FoldEvent,
  type Json,
  type JsonObject,
  type RawEvent,
  taskFace,
  typedEvent,
  type WorkflowDefinition,
} from '@cairn/protocol';
import { answerDrafts } from '../../src/engine/core/answers/answers.ts';
import { pauseRequested, resumed } from '../../src/engine/core/control/pause.ts';
import { recover } from '../../src/engine/core/control/recover.ts';
import { decide } from '../../src/engine/core/decide.ts';
import { drivenResult } from '../../src/engine/core/driven.ts';
import { evolve } from '../../src/engine/core/evolve.ts';
import { cancelRequested, timerFired } from '../../src/engine/core/facts.ts';
import type { HostLimits } from '../../src/engine/core/limits.ts';
import { newRunState } from '../../src/engine/core/new-run-state.ts';
import type { Draft, Effect, RunError, RunState } from '../../src/engine/core/state.ts';
import { dueTimers, nextTimer } from '../../src/engine/core/timers.ts';
import { startedDraft } from '../../src/engine/creation/start-run.ts';
import type { ChildStart } from '../../src/engine/family/child-performer.ts';
import { stateFrom, stateText } from '../../src/engine/loading/state-text.ts';
import { createNodeTypeRegistry } from '../../src/engine/nodes/node-types.ts';
import type { Agents } from '../../src/engine/pins/pinned.ts';
import type { AgentPin, StepSafety } from '../../src/engine/ports.ts';
import { defineWorkflow, type EdgeOptions, type NodeOptions } from '../../src/engine/workflow/define-workflow.ts';
import type { CallResult } from '../../src/engine/workflow/driven-calls.ts';
import type { NodeTypeRegistry } from '../../src/engine/workflow/node-type.ts';
import { checkDefinition } from '../../src/engine/workflow/registration.ts';
import { compileWorkflow, type Workflow } from '../../src/engine/workflow/workflow.ts';
import { present } from './present.ts';
import { relayNode } from './relay-node.ts';

export interface ScriptOptions {
  /** The token of the ids inside payloads. Default: none. */
  readonly idToken?: string;
  readonly inputs?: JsonObject;
  readonly configurable?: JsonObject;
  readonly limits?: Partial<HostLimits>;
  /** Default: `scriptNodeTypes`. */
  readonly nodeTypes?: NodeTypeRegistry;
  /** The agents the run is pinned to: their definitions and pins. */
  readonly agents?: { readonly definitions: Agents; readonly pins: Readonly<Record<string, AgentPin>> };
  /** Default: `run_1`. */
  readonly runId?: RunState['runId'];
  /** Set for a child run that a node of another run starts. */
  readonly child?: ChildStart;
}

const safeties: readonly StepSafety[] = ['pure', 'read', 'write', 'idempotent'];
/** One step type per safety, named `local.step.<safety>`. */
export const scriptNodeTypes = createNodeTypeRegistry(
  safeties.map((safety) => ({ typeId: `local.step.${safety}`, safety })),
  [relayNode],
);

export const step = (safety: StepSafety, more: Omit<NodeOptions, 'type'> = {}): NodeOptions => ({
  type: `local.step.${safety}`,
  ...more,
});

export function workflowOf<const NodeId extends string>(
  nodes: Readonly<Record<NodeId, NodeOptions | string>>,
  edges?: readonly EdgeOptions<NoInfer<NodeId>>[],
  more: Partial<WorkflowDefinition> = {},
): WorkflowDefinition {
  const full = Object.fromEntries(
    Object.entries<NodeOptions | string>(nodes).map(([id, node]) => [
      id,
      typeof node === 'string' ? { type: node } : node,
    ]),
  );
  return {
    ...defineWorkflow({ id: 'w', version: '1', nodes: full, ...(edges === undefined ? {} : { edges }) }),
    ...more,
  };
}

/** Typed for folds, and plain JSON for assertions. */
export type ScriptEvent = FoldEvent & RawEvent;

export class RunScript {
  readonly workflow: Workflow;
  state: RunState;
  readonly events: ScriptEvent[] = [];
  readonly drafts: Draft[] = [];
  effects: Effect[] = [];
  readonly faces: JsonObject[] = [];
  now = 1_000_000;

  constructor(definition: WorkflowDefinition, options: ScriptOptions = {}) {
    const { inputs = {}, configurable, nodeTypes = scriptNodeTypes, agents, child } = options;
    checkDefinition(definition, nodeTypes);
    const workflow = compileWorkflow(definition, 'hash', nodeTypes);
    this.workflow = agents === undefined ? workflow : { ...workflow, agents: agents.definitions };
    this.state = newRunState(options.runId ?? ('run_1' as RunState['runId']));
    const draft = startedDraft({
      workflow: this.workflow,
      idToken: options.idToken,
      pins: { agents: agents?.pins },
      request: { tenant: 't', inputs, options: configurable === undefined ? {} : { configurable }, child },
      limits: { maxNodeExecutions: 1_000, maxRunDurationMs: null, ...options.limits },
    });
    this.write([draft]);
    this.settle();
  }

  write(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      checkRow({ ...draft, payload: JSON.stringify(draft.payload) });
      const event = typedEvent({ seq: this.state.nextSeq, at: this.now, ...draft });
      evolve(this.state, this.workflow, event);
      this.events.push(event);
      this.drafts.push(draft);
      const face = taskFace(this.state.view, event);
      if (face !== null) this.faces.push(face as JsonObject);
    }
  }

  /** Decides until there are no new drafts. */
  settle(): this {
    for (;;) {
      const decision = decide(this.state, this.workflow);
      if (decision.drafts.length === 0) return this;
      this.write(decision.drafts);
      this.effects.push(...decision.effects);
    }
  }

  call(nodeId: string) {
    const call = [...this.state.calls.values()].find((open) => open.nodeId === nodeId);
    if (call === undefined) throw new Error(`node ${nodeId} has no open call`);
    return call;
  }

  /** Delivers the result of a driven node's call. */
  lands(callId: string, result: CallResult): this {
    const { attempt } = present(this.state.calls.get(callId));
    this.write(drivenResult(this.state, this.workflow, { callId, attempt, result, now: this.now }) ?? []);
    return this.settle();
  }

  /** Records the outcome of the node's step. */
  returns(nodeId: string, outcome: Json = {}): this {
    const { callId, attempt } = this.call(nodeId);
    return this.fact('cairn.step.returned', { nodeId, callId, attempt, outcome }, nodeId);
  }

  throws(nodeId: string, error: Partial<RunError> = {}): this {
    const { callId, attempt } = this.call(nodeId);
    const full = { code: 'node_execution_failed', message: 'no', ...error };
    return this.fact('cairn.step.returned', { nodeId, callId, attempt, error: full }, nodeId);
  }

  answers(nodeId: string, value: Json, principal?: string): this {
    this.write(answerDrafts(this, { nodeId, value, principal }, this.now).drafts);
    return this.settle();
  }

  answersTo(interruptId: string, value: Json): this {
    this.write(answerDrafts(this, { interruptId, value }, this.now).drafts);
    return this.settle();
  }

  pauses(drainPolicy: DrainPolicy = 'drain-current-node', reason?: string): this {
    this.write(pauseRequested(this.state, { drainPolicy, reason, principal: 'op' }));
    return this.settle();
  }

  resumes(): this {
    this.write(resumed(this.state, { principal: 'op' }));
    return this.settle();
  }

  cancels(): this {
    this.write(cancelRequested(this.state, { by: 'op' }));
    return this.settle();
  }

  /** Writes any row; `write` validates it against the schema of its type. */
  fact(type: string, payload: JsonObject, nodeId?: string): this {
    this.write([{ type, nodeId, cause: undefined, audience: audienceOf(type), payload } as Draft]);
    return this.settle();
  }

  /** Advances time and fires due timers. */
  passes(ms: number): this {
    const until = this.now + ms;
    for (let next = nextTimer(this.state); next !== null && next <= until; next = nextTimer(this.state)) {
      this.now = Math.max(this.now, next);
      for (const timer of dueTimers(this.state, this.now)) this.write([timerFired(timer)]);
      this.settle();
    }
    this.now = until;
    return this;
  }

  /** Simulates a crash: another process recovers from the serialized state. */
  crashes(): this {
    this.state = stateFrom(stateText(this.state));
    const decision = recover(this.state, this.workflow);
    this.effects = [...decision.effects];
    this.write(decision.drafts);
    return this.settle();
  }

  types(): string[] {
    return this.events.map((event) => event.type);
  }

  /** Payloads of all events of this type. */
  all(type: string): JsonObject[] {
    return this.events.filter((event) => event.type === type).map((event) => event.payload);
  }

  last(type: string): JsonObject {
    const payload = this.all(type).at(-1);
    if (payload === undefined) throw new Error(`no ${type} among ${this.types().join(', ')}`);
    return payload;
  }

  /** Ids of nodes in start order. */
  started(): string[] {
    return this.all('node.started').map((payload) => String(payload.nodeId));
  }

  skipped(): string[] {
    return this.all('node.skipped').map((payload) => String(payload.nodeId));
  }

  get status() {
    return this.state.view.status;
  }
}
