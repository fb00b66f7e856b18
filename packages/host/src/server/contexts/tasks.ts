/** The tasks of a context: what each is doing, what it waits for, and how to cancel one. */
import {
  type ContextId,
  type ContextTask,
  contextTaskDetail,
  contextTasks,
  errorInfo,
  isoTime,
  parseRunId,
  parseShape,
  pendingOf,
  type RunStatus,
  type RunView,
  TerminalError,
  taskCancelled,
} from '@cairn/protocol';
import { z } from 'zod';
import type { Engine, RunCancelled } from '../../engine/engine.ts';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { integerParam } from '../http/params.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import { contextHasNo } from '../http/unknown-id.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import type { ContextAgents } from './context-agents.ts';
import { visibleContext } from './context-params.ts';
import { isQueued } from './turns.ts';

export interface TaskSurface {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly loadView: LoadView;
  readonly cursors: PageCursors;
  readonly agents: ContextAgents;
}

const MAX_TASKS = 100;

export function taskRoutes(surface: TaskSurface): readonly Route[] {
  const context = '/api/contexts/{contextId}/tasks';
  return [
    {
      method: 'GET',
      path: context,
      scope: 'runs:read',
      takesToken: true,
      handle: (call) => list(call, surface),
      doc: {
        id: 'listContextTasks',
        summary: 'List the tasks of a context',
        query: z.object({
          limit: z.int().min(1).max(MAX_TASKS).optional(),
          cursor: z.string().optional(),
          token: z.string().optional(),
        }),
        responses: { 200: { description: 'A page of tasks and subtasks, the newest first.', shape: contextTasks } },
        errors: ['validation_error', 'not_found'],
      },
    },
    {
      method: 'GET',
      path: `${context}/{taskId}`,
      scope: 'runs:read',
      takesToken: true,
      handle: (call) => one(call, surface),
      doc: {
        id: 'getContextTask',
        summary: 'Read a task with the newest of its subtasks',
        query: z.object({ token: z.string().optional() }),
        responses: { 200: { description: 'The task.', shape: contextTaskDetail } },
        errors: ['not_found'],
      },
    },
    {
      method: 'POST',
      path: `${context}/{taskId}/cancel`,
      scope: 'runs:cancel',
      handle: (call) => cancel(call, surface),
      doc: {
        id: 'cancelContextTask',
        summary: 'Cancel a task and every task below it',
        body: cancelBody.optional(),
        responses: { 202: { description: 'The task is cancelled, or was over before.', shape: taskCancelled } },
        errors: ['not_found', 'run_imported'],
      },
    },
  ];
}

const cancelBody = z.strictObject({ reason: z.string().max(2_000).optional() });

async function list(call: Call, surface: TaskSurface): Promise<string> {
  const { contexts, cursors } = surface;
  const limit = integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: MAX_TASKS }) ?? 50;
  const { tenant } = call.caller;
  const cursor = cursors.placeOf(tenant, queryParam(call, 'cursor'));
  const contextId = await visibleContext(call, contexts);
  const head = await contexts.head(contextId);
  const { runs, nextCursor } = await contexts.runs({ contextId, limit, cursor });
  const tasks = [];
  for (const run of runs) tasks.push(await taskOf(run, surface));
  return JSON.stringify({ tasks, head, nextCursor: cursors.shown(tenant, nextCursor) });
}

async function one(call: Call, surface: TaskSurface): Promise<string> {
  const { contextId, record } = await visibleTask(call, surface);
  const { contexts, loadView } = surface;
  const children = [];
  const below = await contexts.runs({ contextId, parentRunId: record.runId, limit: MAX_TASKS });
  for (const run of below.runs) children.push(await taskOf(run, surface));
  const view = await loadView(record.runId);
  return JSON.stringify({ ...(await taskOf(record, surface, view)), children, ...ended(view) });
}

async function cancel(call: Call, surface: TaskSurface): Promise<string> {
  const { reason } = parseShape(cancelBody, call.request.body ?? {}, 'The cancel request');
  const { record } = await visibleTask(call, surface);
  const { runId } = record;
  const { tenant, principal } = call.caller;
  return recordedCommand<RunCancelled>(call, {
    status: 202,
    body: ({ status }) => JSON.stringify({ taskId: runId, status: shownAs[status] }),
    command: (idempotency) => surface.engine.cancel({ tenant, runId, reason, principal, idempotency }),
  });
}

/** The task in the path, if it is one of the context. */
async function visibleTask(
  call: Call,
  { log, contexts }: Pick<TaskSurface, 'log' | 'contexts'>,
): Promise<{ readonly contextId: ContextId; readonly record: RunRecord }> {
  const contextId = await visibleContext(call, contexts);
  const text = pathParam(call, 'taskId');
  const runId = parseRunId(text);
  const head = runId === null ? null : await log.head(runId);
  if (head === null || head.record.contextId !== contextId || head.record.tenant !== call.caller.tenant) {
    throw new TerminalError('not_found', {
      message: contextHasNo('task', text, runId !== null),
      hint: `GET /api/contexts/${contextId}/tasks lists its tasks.`,
    });
  }
  return { contextId, record: head.record };
}

async function taskOf(record: RunRecord, surface: TaskSurface, known?: RunView): Promise<ContextTask> {
  const { runId, parentRunId, status, createdAt, endedAt } = record;
  // A running task may wait for a subtask, which only its view says.
  const isOpen = (status.startsWith('waiting') || status === 'running') && !isQueued(record);
  const view = known ?? (isOpen ? await surface.loadView(runId) : null);
  return {
    taskId: runId,
    ...(parentRunId !== null && { parentTaskId: parentRunId }),
    agentId: await surface.agents.of(record),
    status: isQueued(record)
      ? 'queued'
      : status.startsWith('waiting') || status === 'running'
        ? (view?.taskStatus ?? shownAs[status])
        : shownAs[status],
    createdAt: isoTime(createdAt),
    ...(endedAt !== null && { endedAt: isoTime(endedAt) }),
    pending: view === null ? [] : pendingOf(view),
  };
}

/** A run waits for one of several things; its view says for which. */
const shownAs: Readonly<Record<RunStatus, ContextTask['status']>> = {
  pending: 'working',
  running: 'working',
  paused: 'working',
  'waiting-approval': 'waiting-input',
  'waiting-input': 'waiting-input',
  'waiting-external': 'waiting-input',
  completed: 'completed',
  failed: 'failed',
  cancelling: 'working',
  cancelled: 'canceled',
};

function ended({ status, outputs, error }: RunView): object {
  if (status === 'completed') return { result: outputs ?? {} };
  return status === 'failed' && error !== null ? { error: errorInfo(error) } : {};
}
