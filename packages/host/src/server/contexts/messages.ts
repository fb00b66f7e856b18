/** Messages of a conversation: each becomes a root task of its context, whose events are the response. */
import {
  agentIdProblem,
  type ContextId,
  type Json,
  messageAccepted,
  parseRunId,
  parseShape,
  quoted,
  RetryableError,
  type RunId,
  type SendMessage,
  sendMessage,
  TerminalError,
  taskEvent,
} from '@cairn/protocol';
import { z } from 'zod';
import { agentRun } from '../../agents/agent-run.ts';
import type { Engine, RemoteCaller, RunStarted } from '../../engine/engine.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import { type InboundTrace, inboundTrace } from '../../telemetry/trace-context.ts';
import { takenOver } from '../http/large-response.ts';
import { type Call, type KeyedRoute, pathParam, queryParam, type Route } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import type { ContextAgents } from './context-agents.ts';
import { contextNamed, contextOrNew } from './context-params.ts';
import type { ContextStreams } from './context-stream.ts';
import { clientToolsIn, type MessageTools } from './message-tools.ts';
import { type ContextTurns, QUEUED_TAG } from './turns.ts';

export interface MessageSurface extends MessageTools {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly agents: ContextAgents;
  readonly turns: ContextTurns;
  readonly contextStreams: ContextStreams;
  /** Whether this host runs agents. */
  readonly runsAgents: boolean;
  /** The agent for messages that name none, in a context where none has answered. */
  readonly defaultAgent: string | undefined;
  /** Messages that wait in one context. */
  readonly maxQueuedMessages: number;
}

export function messageRoutes(surface: MessageSurface): readonly Route[] {
  const route = (id: string, path: string, summary: string): KeyedRoute => ({
    method: 'POST',
    path,
    scope: 'runs:create',
    holds: true,
    recordsItself: true,
    isEventBody: true,
    handle: (call) => accept(call, surface),
    follow: (call, text) => respond(call, text, surface),
    doc: {
      id,
      summary,
      query: z.object({
        closeOn: z.literal('waiting').optional().describe('Ends the stream also when the task waits for somebody.'),
        ifBusy: z
          .enum(busyRules)
          .optional()
          .describe(
            'While another task of the context is open: `queue` (the default) starts this one after it, `reject` answers 409, `cancel` cancels it first.',
          ),
      }),
      headers: z.object({
        prefer: z.string().optional().describe('`respond-async` answers 202 at once, with no stream.'),
      }),
      body: sendMessage,
      responses: {
        200: {
          description: 'A stream of the events of the task and the tasks below it, until it ends.',
          contentType: 'text/event-stream',
          orStream: taskEvent,
        },
        202: {
          description: 'With `Prefer: respond-async`: the task began, or waits for its turn.',
          shape: messageAccepted,
        },
      },
      errors: ['not_found', 'conflict', 'capability_required', 'event_too_large', 'quota_exceeded'],
    },
  });
  return [
    route('sendMessage', '/api/messages', 'Send a message to an agent, in a new or a given context'),
    route('sendContextMessage', '/api/contexts/{contextId}/messages', 'Send a message in a context'),
  ];
}

export const busyRules = ['queue', 'reject', 'cancel'] as const;

/** What a request asks for while another task of its context is open. */
export const busyRule = (call: Call): (typeof busyRules)[number] | undefined => choice(call, 'ifBusy', busyRules);

/** Starts the task. Only ids are recorded for an `Idempotency-Key`: a repeated request streams the same task. */
async function accept(call: Call, surface: MessageSurface): Promise<string> {
  const body = parseShape(sendMessage, call.request.body, 'The message');
  const ifBusy = busyRule(call) ?? 'queue';
  choice(call, 'closeOn', ['waiting']);
  return startTask(call, surface, { body, contextId: contextGiven(call, body), ifBusy });
}

/** A message for an agent, whatever protocol it came with. */
export interface TaskMessage {
  readonly body: SendMessage;
  /** As the client gave it. Undefined begins a new context. */
  readonly contextId: string | undefined;
  readonly ifBusy: (typeof busyRules)[number];
  /** The client names its contexts itself: one that nobody has begins with this message. */
  readonly mayBeginContext?: boolean;
  /** The task that it retries. */
  readonly retryOf?: RunId;
  /** What is recorded and returned. Default: the ids of the context and the task. */
  readonly recorded?: (started: RunStarted) => string;
  /** The trace that the message itself names. Default: that of the headers. */
  readonly trace?: InboundTrace | undefined;
  /** The run of another host that sends it. */
  readonly caller?: RemoteCaller | undefined;
  /** The protocol that it came with, if the run records it. */
  readonly transport?: 'mcp' | 'a2a';
}

/** Starts the root task of a message, or lets it wait for its turn. */
export async function startTask(call: Call, surface: MessageSurface, message: TaskMessage): Promise<string> {
  const { contextId: named, ifBusy, mayBeginContext = false } = message;
  if (!surface.runsAgents) throw noAgents();
  if (named === undefined) return start(call, surface, { ...message, contextId: undefined, isHeldBack: false });
  const find = mayBeginContext ? contextOrNew : contextNamed;
  const contextId = await find(named, call.caller, surface.log);
  return surface.turns.alone(contextId, async () => {
    const { active, queued } = await surface.turns.openTasks(contextId);
    const isBusy = active !== null || queued.length > 0;
    if (isBusy && ifBusy === 'reject') throw busy(contextId, active?.runId ?? queued[0]?.runId ?? '');
    if (queued.length >= surface.maxQueuedMessages) throw queueFull(contextId, queued.length);
    if (active !== null && ifBusy === 'cancel') {
      const { tenant, principal } = call.caller;
      await surface.engine.cancel({ tenant, principal, runId: active.runId, reason: 'another message came' });
    }
    const text = await start(call, surface, { ...message, contextId, isHeldBack: isBusy });
    if (isBusy) surface.turns.waits(contextId);
    return text;
  });
}

interface NewTask extends Omit<TaskMessage, 'contextId'> {
  readonly contextId: ContextId | undefined;
  readonly isHeldBack: boolean;
}

const idsOf = ({ contextId, runId }: RunStarted): string => JSON.stringify({ contextId, taskId: runId });

async function start(call: Call, surface: MessageSurface, task: NewTask): Promise<string> {
  const { body, contextId, isHeldBack, mayBeginContext, retryOf, recorded = idsOf } = task;
  const agentId = body.agentId ?? (contextId && (await surface.agents.lastIn(contextId))) ?? surface.defaultAgent;
  if (agentId === undefined) throw noAgent(contextId);
  const problem = agentIdProblem(agentId);
  if (problem !== null) throw badAgent(problem);
  const inputs = { message: body.message.content };
  const { tenant, principal, toolScopes } = call.caller;
  const definition = agentRun(agentId, inputs, clientToolsIn(body.tools, tenant, surface));
  const request = {
    tenant,
    principal,
    toolScopes,
    workflowId: definition.id,
    definition,
    inputs,
    options: isHeldBack ? { tags: [QUEUED_TAG] } : {},
    contextId,
    mayBeginContext,
    retryOf,
    trace: task.trace ?? inboundTrace(call.request.headers),
    caller: task.caller,
    transport: task.transport,
    ...(isHeldBack && { heldBack: 'queued' }),
  };
  return recordedCommand<RunStarted>(call, {
    status: 202,
    body: recorded,
    command: (idempotency) => surface.engine.start({ ...request, idempotency }),
  });
}

/** The 202 of an asynchronous request, or the stream of the task from its first event on. */
async function respond(call: Call, text: string, surface: MessageSurface): Promise<string | undefined> {
  const { contextId, taskId } = startedTask(JSON.parse(text));
  const cursor = await firstCursor(surface.log, taskId);
  if (isAsync(call)) {
    call.reply.header('preference-applied', 'respond-async');
    return JSON.stringify({ contextId, taskId, cursor });
  }
  const head = await surface.log.contextHead(contextId);
  const closesOnWait = queryParam(call, 'closeOn') === 'waiting';
  const { caller } = call;
  const from = cursor - 1;
  // The ids are in every event; in the head they are there before the first.
  call.reply.header('cairn-context-id', contextId);
  call.reply.header('cairn-task-id', taskId);
  surface.contextStreams.serveTask(takenOver(call), { caller, contextId, taskId, from, head, closesOnWait });
  return undefined;
}

function startedTask(recorded: { readonly contextId?: Json; readonly taskId?: Json }): {
  readonly contextId: ContextId;
  readonly taskId: RunId;
} {
  const taskId = parseRunId(String(recorded.taskId));
  if (taskId === null) throw new TerminalError('internal_error', { message: 'The recorded task has no id.' });
  return { contextId: String(recorded.contextId) as ContextId, taskId };
}

/** The cursor of the first event of a task. */
export async function firstCursor(log: EventLog, taskId: RunId): Promise<number> {
  const [first] = await log.read({ runId: taskId, after: -1, limit: 1, isForFrames: true });
  return first?.cursor ?? 1;
}

const isAsync = ({ request }: Call): boolean =>
  String(request.headers.prefer ?? '')
    .split(',')
    .some((preference) => preference.trim().toLowerCase() === 'respond-async');

/** The context of the path wins; the body may name it too, and then the same. */
function contextGiven(call: Call, { contextId }: SendMessage): string | undefined {
  const inPath = pathParam(call, 'contextId');
  if (inPath === '') return contextId;
  if (contextId === undefined || contextId === inPath) return inPath;
  throw new TerminalError('validation_error', {
    message: 'The path and the body name two different contexts.',
    hint: 'Leave contextId out of the body.',
    details: { field: 'contextId' },
  });
}

function choice<const Value extends string>(call: Call, name: string, values: readonly Value[]): Value | undefined {
  const text = queryParam(call, name);
  const found = values.find((value) => value === text);
  if (text !== undefined && found === undefined) {
    throw new TerminalError('validation_error', {
      message: `${name} cannot be ${quoted(text, 60)}.`,
      hint: `Use ${values.join(' or ')}, or leave it out.`,
      details: { parameter: name },
    });
  }
  return found;
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
