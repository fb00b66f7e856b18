/** Messages of a conversation: each becomes a root task of its context, whose events are the response. */
import {
  type ContextId,
  isTerminalStatus,
  type Json,
  messageAccepted,
  parseRunId,
  parseShape,
  quoted,
  type RunId,
  type SendMessage,
  sendMessage,
  TerminalError,
  taskEvent,
} from '@cairn/protocol';
import { z } from 'zod';
import type { EventLog } from '../../log/ports/event-log.ts';
import { takenOver } from '../http/large-response.ts';
import { type Call, type KeyedRoute, pathParam, queryParam, type Route } from '../http/routes.ts';
import { contextHasNo } from '../http/unknown-id.ts';
import type { ContextStreams } from './context-stream.ts';
import { busyRules, type StartTaskPorts, startTask } from './start-task.ts';

export interface MessageSurface extends StartTaskPorts {
  readonly contextStreams: ContextStreams;
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
        closeOn: z
          .literal('waiting')
          .optional()
          .describe('Ends the stream also when the task waits for somebody and has said what for.'),
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

/** What a request asks for while another task of its context is open. */
export const busyRule = (call: Call): (typeof busyRules)[number] | undefined => choice(call, 'ifBusy', busyRules);

/** Starts the task. Only ids are recorded for an `Idempotency-Key`: a repeated request streams the same task. */
async function accept(call: Call, surface: MessageSurface): Promise<string> {
  const body = parseShape(sendMessage, call.request.body, 'The message');
  const ifBusy = busyRule(call) ?? 'queue';
  choice(call, 'closeOn', ['waiting']);
  const contextId = contextGiven(call, body);
  const retryOf = body.retryOf === undefined ? undefined : await retriedTask(body.retryOf, contextId, call, surface);
  return startTask(call, surface, { body, contextId, ifBusy, ...(retryOf && { retryOf }) });
}

/** The task that a message does again: a root task of the same context, which has ended. */
async function retriedTask(
  given: string,
  contextId: string | undefined,
  { caller }: Call,
  { log }: MessageSurface,
): Promise<RunId> {
  const runId = parseRunId(given);
  const record = runId === null ? null : ((await log.head(runId))?.record ?? null);
  const isHere = record !== null && record.contextId === contextId && record.tenant === caller.tenant;
  if (!isHere || record.parentRunId !== null) {
    throw new TerminalError('not_found', {
      message: contextHasNo('root task', given, runId !== null),
      hint: 'Send retryOf with the context of the task: GET /api/contexts/{contextId}/tasks lists them.',
      details: { field: 'retryOf' },
    });
  }
  if (isTerminalStatus(record.status)) return record.runId;
  throw new TerminalError('conflict', {
    message: `The task ${record.runId} is still open.`,
    hint: 'Wait for its end, or cancel it first.',
    details: { taskId: record.runId },
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
  const head = await surface.contexts.head(contextId);
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
export async function firstCursor(log: Pick<EventLog, 'read'>, taskId: RunId): Promise<number> {
  const [first] = await log.read({ runId: taskId, after: -1, limit: 1, isForFrames: true });
  return first?.cursor ?? 1;
}

/** The cursor before the last rows of a run. */
export async function cursorBefore(log: Pick<EventLog, 'head' | 'read'>, runId: RunId, rows: number): Promise<number> {
  const seq = (await log.head(runId))?.seq ?? 0;
  const [first] = await log.read({ runId, after: Math.max(seq - rows, -1), limit: 1, isForFrames: true });
  return (first?.cursor ?? 1) - 1;
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
