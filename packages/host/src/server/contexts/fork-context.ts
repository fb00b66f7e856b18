/**
 * Forks a conversation before one of its messages: a new context that shares all earlier tasks. Its next message is
 * heard after them, as if it had been sent in the place of the other one.
 */
import {
  type ContextId,
  contextForked,
  contextId as contextIdOf,
  type ForkContext,
  forkContext,
  isTerminalStatus,
  parseRunId,
  parseShape,
  quoted,
  type RunId,
  runId as runIdOf,
  TerminalError,
} from '@cairn/protocol';
import type { IdempotentRequest } from '../../engine/engine.ts';
import type { UniqueId } from '../../engine/ports.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog, OtherFork } from '../../log/ports/event-log.ts';
import { responseRecord } from '../../log/ports/idempotency.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import type { Call, Route } from '../http/routes.ts';
import { contextHasNo } from '../http/unknown-id.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { visibleContext } from './context-params.ts';

export interface ForkContextSurface {
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly uniqueId: UniqueId;
  readonly now: () => number;
}

/** Tasks that one fork shares: written in one commit. */
const MAX_TASKS = 100;

interface Forked {
  readonly contextId: ContextId;
  readonly tasks: number;
}

export const forkContextRoutes = (surface: ForkContextSurface): readonly Route[] => [
  {
    method: 'POST',
    path: '/api/contexts/{contextId}/fork',
    scope: 'runs:create',
    alsoNeeds: 'runs:read',
    recordsItself: true,
    handle: (call) => fork(call, surface),
    doc: {
      id: 'forkContext',
      summary: 'Begin a new context that shares the tasks before a message',
      body: forkContext,
      responses: { 201: { description: 'The context exists. Send a message in it.', shape: contextForked } },
      errors: ['not_found', 'conflict', 'replay_memory_snapshot_unavailable'],
    },
  },
];

async function fork(call: Call, surface: ForkContextSurface): Promise<string> {
  const body = parseShape(forkContext, call.request.body, 'The fork');
  const contextId = await visibleContext(call, surface.contexts);
  const earlier = await tasksBefore(contextId, body, surface);
  const { tenant } = call.caller;
  return recordedCommand<Forked>(call, {
    status: 201,
    body: (forked) => JSON.stringify(forked),
    command: (idempotency) => share(earlier, { ...surface, tenant, idempotency }),
  });
}

/** The root tasks before the named one, the oldest first. */
async function tasksBefore(
  contextId: ContextId,
  { before }: ForkContext,
  { log, contexts }: ForkContextSurface,
): Promise<readonly RunRecord[]> {
  const named = parseRunId(before);
  const record = named === null ? null : ((await log.head(named))?.record ?? null);
  if (record?.contextId !== contextId || record.parentRunId !== null) throw noTask(before);
  const earlier: RunRecord[] = [];
  let isFound = false;
  let cursor: string | undefined;
  do {
    const page = await contexts.runs({ contextId, parentRunId: null, limit: MAX_TASKS, cursor });
    for (const run of page.runs) {
      // What an imported run says never reaches the agents of this host.
      if (isFound && run.importedAt === null) earlier.push(run);
      isFound ||= run.runId === named;
      if (earlier.length > MAX_TASKS) throw tooMany(contextId);
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  if (earlier.length === 0) throw nothingBefore(before);
  const open = earlier.find(({ status }) => !isTerminalStatus(status));
  if (open !== undefined) throw stillOpen(open.runId);
  return earlier.reverse();
}

interface Sharing extends ForkContextSurface {
  readonly tenant: string;
  readonly idempotency: IdempotentRequest<Forked> | undefined;
}

/** Every task has ended, so that its fork shares all of it, and nothing becomes due. */
async function share(earlier: readonly RunRecord[], sharing: Sharing): Promise<Forked> {
  const { log, uniqueId, now, tenant, idempotency } = sharing;
  const contextId = contextIdOf(uniqueId());
  const at = now();
  const forks: OtherFork[] = [];
  for (const { runId, originRunId } of earlier) {
    const seq = (await log.head(runId))?.seq ?? -1;
    const place = { sourceRunId: runId, fromSeq: seq + 1, mode: 'replay' } as const;
    forks.push({ runId: runIdOf(uniqueId()), tenant, contextId, originRunId, fork: place, at });
  }
  const [first, ...others] = forks;
  if (first === undefined) throw nothingBefore('');
  const forked: Forked = { contextId, tasks: forks.length };
  const record =
    idempotency &&
    responseRecord(idempotency, { state: 'completed', headers: '{}', at, ...idempotency.response(forked) });
  await log.fork({ ...first, others, ...(record === undefined ? {} : { idempotency: [record] }) });
  return forked;
}

const noTask = (before: string): TerminalError =>
  new TerminalError('not_found', {
    message: contextHasNo('root task', before, parseRunId(before) !== null),
    hint: 'Use a taskId without a parentTaskId: GET /api/contexts/{contextId}/tasks lists them.',
    details: { field: 'before' },
  });

const nothingBefore = (before: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The task ${quoted(before, 140)} is the first of its context: there is nothing before it to share.`,
    hint: 'Send the message in a new context.',
  });

const stillOpen = (taskId: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `The earlier task ${taskId} is still open.`,
    hint: 'Wait for its end, or cancel it.',
    details: { taskId },
  });

const tooMany = (contextId: ContextId): TerminalError =>
  new TerminalError('conflict', {
    message: `More than ${MAX_TASKS} tasks of the context ${contextId} come before the named one.`,
    hint: `A fork shares at most ${MAX_TASKS} tasks. Begin a new context instead.`,
    details: { limit: MAX_TASKS },
  });
