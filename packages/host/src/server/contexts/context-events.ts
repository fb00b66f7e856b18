/** The events of a context: a stream that resumes after the client's last event, or a page of them as JSON. */
import { type ContextId, taskEvent, taskEventPage } from '@cairn/protocol';
import { z } from 'zod';
import type { FairTurns } from '../../fair-turns.ts';
import { Instants } from '../../log/feed/frame.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { isRawShown, shownKind, type TaskFilter } from '../../log/tasks/task-filter.ts';
import { rawEventText, taskEventText } from '../../log/tasks/task-frame.ts';
import { takenOver } from '../http/large-response.ts';
import { integerParam } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import { cursorParam, filterQuery, startOf, switched, taskFilter, visibleContext } from './context-params.ts';
import { type ContextStreams, resetOf } from './context-stream.ts';

export interface ContextEventSurface {
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly contextStreams: ContextStreams;
  /** Pages are rendered and sent in turns with other work, tenant by tenant. */
  readonly pageTurns: FairTurns;
}

const token = z.string().optional().describe('A read token of the context, in the place of a key.');

export function contextEventRoutes(surface: ContextEventSurface): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/contexts/{contextId}/stream',
      scope: 'runs:read',
      holds: true,
      takesToken: true,
      handle: (call) => stream(call, surface),
      doc: {
        id: 'streamContext',
        summary: 'Stream the task events of a context',
        query: z.object({
          after: z
            .string()
            .optional()
            .describe(
              'A cursor: shows what follows it. `0` is the whole history, `latest` only what is new. Default: from the beginning of the oldest open task. `Last-Event-ID` wins.',
            ),
          ...filterQuery,
          coalesce: z
            .literal('1')
            .optional()
            .describe('While the client is behind: joins deltas of text, and leaves out progress that is out of date.'),
          token,
        }),
        responses: {
          200: { description: 'A stream of task events.', contentType: 'text/event-stream', orStream: taskEvent },
        },
        errors: ['validation_error', 'not_found'],
      },
    },
    {
      method: 'GET',
      path: '/api/contexts/{contextId}/events',
      scope: 'runs:read',
      takesToken: true,
      handle: (call) => page(call, surface),
      doc: {
        id: 'listContextEvents',
        summary: 'Read the task events of a context page by page',
        query: z.object({
          after: z
            .union([z.coerce.number().int().min(0), z.literal('latest')])
            .optional()
            .describe('The `next` of the page before, or `latest` for only what is new. Default: 0.'),
          limit: z.int().min(1).max(MAX_EVENTS).optional(),
          ...filterQuery,
          token,
        }),
        responses: {
          200: {
            description: 'A page, which may be short although more follows: go on until `next` is `head`.',
            shape: taskEventPage,
          },
        },
        errors: ['validation_error', 'not_found'],
      },
    },
  ];
}

async function stream(call: Call, { log, contexts, contextStreams }: ContextEventSurface): Promise<undefined> {
  const filter = { ...taskFilter(call), coalesce: switched(queryParam(call, 'coalesce'), 'coalesce', '1') };
  const start = startOf(call);
  const contextId = await visibleContext(call, contexts);
  const head = await contexts.head(contextId);
  const from = start === 'latest' ? head : (start ?? (await openStart(contextId, head, { log, contexts })));
  const oldest = typeof start === 'number' && start > 0 ? await oldestCursor(contextId, log) : 0;
  contextStreams.serveContext(takenOver(call), { caller: call.caller, contextId, from, oldest, head, filter });
  return undefined;
}

/** The first event that is still there: retention may have purged those before it. */
async function oldestCursor(contextId: ContextId, log: EventLog): Promise<number> {
  const [first] = await log.read({ contextId, afterCursor: 0, limit: 1, isForTasks: true });
  return first?.cursor ?? 0;
}

/** Before the first event of the oldest open task, so that a late joiner sees the turn in progress; else the newest one. */
async function openStart(
  contextId: ContextId,
  head: number,
  { log, contexts }: Pick<ContextEventSurface, 'log' | 'contexts'>,
) {
  const oldest = await contexts.oldestOpen(contextId);
  if (oldest === null) return head;
  const [first] = await log.read({ runId: oldest.runId, after: -1, limit: 1, isForFrames: true });
  return first === undefined ? head : first.cursor - 1;
}

const MAX_EVENTS = 500;

/** What one read takes at most, and the rows that a page reads at most: it may show less. */
const READ = { limit: 500, maxBytes: 262_144 };
const MAX_ROWS = 2_000;

/** The rows to read for so many events: about every other one shows something. */
const rowsFor = (events: number): number => Math.min(READ.limit, 2 * events + 1);

async function page(call: Call, { log, contexts, pageTurns }: ContextEventSurface): Promise<string> {
  const filter = taskFilter(call);
  const given = queryParam(call, 'after') ?? '0';
  const cursor = given === 'latest' ? null : cursorParam(given, 'after');
  const limit = integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: MAX_EVENTS }) ?? 100;
  const contextId = await visibleContext(call, contexts);
  // Before the rows: what comes meanwhile makes `next` at most larger.
  const head = await contexts.head(contextId);
  const from = cursor ?? head;
  const { events, next, isAfterOwn } = await shown(log, { contextId, after: Math.min(from, head), limit, filter });
  // If the event of the cursor is still there, the oldest one is no later.
  const reset = resetOf({ from, head, oldest: from > 0 && !isAfterOwn ? await oldestCursor(contextId, log) : 0 });
  const more = reset === null ? '' : `,"reset":${JSON.stringify(reset)}`;
  // Hundreds of requests may come to this point in one turn, because the reads before it are small.
  return pageTurns.take(call.caller.tenant, () => {
    const text = `{"events":[${events.join()}],"next":${next},"head":${Math.max(head, next)}${more}}`;
    pageTurns.charge(text.length);
    return text;
  });
}

interface PageRange {
  readonly contextId: ContextId;
  readonly after: number;
  readonly limit: number;
  readonly filter: TaskFilter;
}

/**
 * An operator who asked for everything also gets the rows that are no task events. The first read begins with the row of
 * the cursor itself, which tells whether it is still there.
 */
async function shown(log: EventLog, { contextId, after, limit, filter }: PageRange) {
  const instants = new Instants();
  const events: string[] = [];
  let next = after;
  let isAfterOwn = false;
  // Each read that does not fill the page is followed by a larger one, so that a filter does not make many of them.
  let size = rowsFor(limit);
  for (let read = 0; read < MAX_ROWS; size = Math.min(READ.limit, MAX_ROWS - read)) {
    const isForTasks = !filter.debug;
    const afterCursor = read === 0 ? Math.max(0, next - 1) : next;
    const rows: readonly Row[] = await log.read({ contextId, afterCursor, isForTasks, ...READ, limit: size });
    read += size;
    for (const row of rows) {
      if (row.cursor === after) {
        isAfterOwn = true;
        continue;
      }
      next = row.cursor;
      const textOf = shownKind(filter, row) !== null ? taskEventText : isRawShown(filter, row) ? rawEventText : null;
      if (textOf === null) continue;
      events.push(textOf(row, instants.textOf(row.at)));
      if (events.length >= limit) return { events, next, isAfterOwn };
    }
    if (rows.length === 0) break;
  }
  return { events, next, isAfterOwn };
}
