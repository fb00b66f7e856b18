/** Starts root tasks of contexts: messages for agents, and inputs of workflows. One at a time works in a context. */
import {
  agentIdProblem,
  type CallBudget,
  type ContextId,
  type JsonObject,
  RetryableError,
  type RunId,
  type RunOptions,
  type SendMessage,
  TerminalError,
} from '@cairn/protocol';
import { agentRun } from '../../agents/agent-run.ts';
import type { Engine, RemoteCaller, RunStarted, StartRun } from '../../engine/engine.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import { type InboundTrace, inboundTrace } from '../../telemetry/trace-context.ts';
import type { Call } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import type { ContextAgents } from './context-agents.ts';
import { contextNamed, contextOrNew } from './context-params.ts';
import type { MessageInputs } from './message-inputs.ts';
import { clientToolsIn, type MessageTools } from './message-tools.ts';
import { type ContextTurns, QUEUED_TAG } from './turns.ts';

export interface StartTaskPorts extends MessageTools {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly agents: ContextAgents;
  readonly messageInputs: Pick<MessageInputs, 'of'>;
  readonly turns: ContextTurns;
  /** Whether this host runs agents. */
  readonly runsAgents: boolean;
  /** The agent for messages that name none, in a context where none has answered. */
  readonly defaultAgent: string | undefined;
  /** Messages that wait in one context. */
  readonly maxQueuedMessages: number;
}

export const busyRules = ['queue', 'reject', 'cancel'] as const;

/** A message for an agent, whatever protocol it came with. */
export interface TaskMessage extends TaskOptions {
  readonly body: SendMessage;
}

/** A message that gives a workflow its inputs. */
export interface WorkflowMessage extends TaskOptions {
  readonly workflowId: string;
  readonly inputs: JsonObject;
}

interface TaskOptions {
  /** As the client gave it. Undefined begins a new context. */
  readonly contextId: string | undefined;
  readonly ifBusy: (typeof busyRules)[number];
  /** The client names its contexts itself: an unused one begins with this message. */
  readonly mayBeginContext?: boolean;
  /** The task that it retries. */
  readonly retryOf?: RunId;
  /** What is recorded and returned. Default: the ids of the context and the task. */
  readonly recorded?: (started: RunStarted) => string;
  /** The trace that the message itself names. Default: that of the headers. */
  readonly trace?: InboundTrace | undefined;
  /** The run of another host that sends it. */
  readonly caller?: RemoteCaller | undefined;
  /** What the sender lets the task use at most. */
  readonly callBudget?: CallBudget | undefined;
  /** The protocol that it came with, if the run records it. */
  readonly transport?: 'mcp' | 'a2a';
  /** What that protocol calls it, to be kept with the run. */
  readonly kept?: Pick<RunOptions, 'tags' | 'metadata'> | undefined;
}

/** Starts the root task of a message, or lets it wait for its turn. */
export async function startTask(call: Call, surface: StartTaskPorts, message: TaskMessage): Promise<string> {
  if (!surface.runsAgents) throw noAgents();
  return inTurn(call, surface, { ...message, workOf: (contextId) => agentWork(call, surface, message, contextId) });
}

/** Starts the workflow of a message as a root task, or lets it wait for its turn. */
export const startWorkflowTask = (call: Call, surface: StartTaskPorts, message: WorkflowMessage): Promise<string> =>
  inTurn(call, surface, { ...message, workOf: async () => message });

/** What the run of a task does. */
type Work = Pick<StartRun, 'workflowId' | 'definition' | 'inputs'>;

interface TurnTask extends TaskOptions {
  readonly workOf: (contextId: ContextId | undefined) => Promise<Work>;
}

async function inTurn(call: Call, surface: StartTaskPorts, task: TurnTask): Promise<string> {
  const { contextId: named, ifBusy, mayBeginContext = false } = task;
  if (named === undefined) return start(call, surface, { ...task, contextId: undefined, isHeldBack: false });
  const find = mayBeginContext ? contextOrNew : contextNamed;
  const contextId = await find(named, call.caller, surface.contexts);
  return surface.turns.alone(contextId, async () => {
    const { active, queued } = await surface.turns.openTasks(contextId);
    const isBusy = active !== null || queued.length > 0;
    if (isBusy && ifBusy === 'reject') throw busy(contextId, active?.runId ?? queued[0]?.runId ?? '');
    if (queued.length >= surface.maxQueuedMessages) throw queueFull(contextId, queued.length);
    if (active !== null && ifBusy === 'cancel') {
      const { tenant, principal } = call.caller;
      await surface.engine.cancel({ tenant, principal, runId: active.runId, reason: 'another message came' });
    }
    const text = await start(call, surface, { ...task, contextId, isHeldBack: isBusy });
    if (isBusy) surface.turns.waits(contextId);
    return text;
  });
}

async function agentWork(
  { caller }: Call,
  surface: StartTaskPorts,
  { body }: TaskMessage,
  contextId: ContextId | undefined,
): Promise<Work> {
  const agentId = body.agentId ?? (contextId && (await surface.agents.lastIn(contextId))) ?? surface.defaultAgent;
  if (agentId === undefined) throw noAgent(contextId);
  const problem = agentIdProblem(agentId);
  if (problem !== null) throw badAgent(problem);
  const inputs = await surface.messageInputs.of(caller.tenant, agentId, body.message.content);
  const definition = agentRun(agentId, inputs, await clientToolsIn(body.tools, caller.tenant, surface));
  return { workflowId: definition.id, definition, inputs };
}

interface NewTask extends Omit<TurnTask, 'contextId'> {
  readonly contextId: ContextId | undefined;
  readonly isHeldBack: boolean;
}

const idsOf = ({ contextId, runId }: RunStarted): string => JSON.stringify({ contextId, taskId: runId });

/** A task that waits has a tag. */
function optionsOf({ isHeldBack, kept: { tags = [], metadata } = {} }: NewTask): RunOptions {
  const all = isHeldBack ? [QUEUED_TAG, ...tags] : tags;
  return { ...(all.length > 0 && { tags: all }), ...(metadata !== undefined && { metadata }) };
}

async function start(call: Call, surface: StartTaskPorts, task: NewTask): Promise<string> {
  const { workOf, contextId, isHeldBack, mayBeginContext, retryOf, recorded = idsOf } = task;
  const { workflowId, definition, inputs } = await workOf(contextId);
  const { tenant, principal, toolScopes } = call.caller;
  const request = {
    tenant,
    principal,
    toolScopes,
    workflowId,
    definition,
    inputs,
    options: optionsOf(task),
    contextId,
    mayBeginContext,
    retryOf,
    trace: task.trace ?? inboundTrace(call.request.headers),
    caller: task.caller,
    callBudget: task.callBudget,
    transport: task.transport,
    ...(isHeldBack && { heldBack: 'queued' }),
  };
  return recordedCommand<RunStarted>(call, {
    status: 202,
    body: recorded,
    command: (idempotency) => surface.engine.start({ ...request, idempotency }),
  });
}

export const noAgents = (): TerminalError =>
  new TerminalError('capability_required', {
    message: 'This host runs no agents.',
    hint: 'Configure a model or a pack of agents.',
    details: { requiredCapability: 'agents.liveRuntime' },
  });

const noAgent = (contextId: ContextId | undefined): TerminalError =>
  new TerminalError('validation_error', {
    message:
      contextId === undefined
        ? 'The message names no agent, and this host has no default agent.'
        : `The message names no agent, none has answered in ${contextId}, and this host has no default agent.`,
    hint: 'Send agentId (GET /v1/agents lists the agents), or set defaultAgent in cairn.json.',
    details: { field: 'agentId' },
  });

const badAgent = (problem: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The agentId ${problem}.`,
    hint: 'GET /v1/agents lists the agents of the tenant.',
    details: { field: 'agentId' },
  });

const busy = (contextId: ContextId, taskId: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The task ${taskId} of the context ${contextId} is still open.`,
    hint: 'Wait for its end, or send the message with ifBusy=queue or ifBusy=cancel.',
    details: { contextId, taskId },
  });

const queueFull = (contextId: ContextId, count: number): RetryableError =>
  new RetryableError('rate_limited', {
    message: `${count} messages wait in the context ${contextId} already.`,
    hint: 'Wait until some of them were answered, or send ifBusy=cancel.',
    details: { scope: 'context', limit: `${count} queued messages`, retryAfterMs: 1_000 },
  });
