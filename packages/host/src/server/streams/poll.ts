/** Long poll: the events after a position, or a wait for the next one. */
import { isTerminalStatus, POLL_TIMEOUT, pollAnswer } from '@cairn/protocol';
import { z } from 'zod';
import { docText } from '../../log/feed/frame.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { integerParam, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { CommitWaiters } from './commit-waiters.ts';

export interface PollSurface {
  readonly log: EventLog;
  readonly waiters: CommitWaiters;
}

/** Most of one answer; the next poll gives the next ones. */
const PAGE = { limit: 500, maxBytes: 1_048_576 };

export function pollRoutes(surface: PollSurface): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}/events/poll',
      scope: 'runs:read',
      holds: true,
      handle: (call) => poll(call, surface),
      doc: {
        id: 'pollEvents',
        summary: "Wait for a run's next events",
        query: z.object({
          lastSequence: z.coerce.number().int().min(0).optional(),
          since: z.coerce.number().int().min(0).optional(),
          timeout: z.coerce.number().int().min(POLL_TIMEOUT.min).max(POLL_TIMEOUT.max).optional(),
        }),
        responses: { 200: { description: 'What came after the position, or nothing in time.', shape: pollAnswer } },
        errors: ['validation_error', 'not_found'],
      },
    },
  ];
}

async function poll(call: Call, { log, waiters }: PollSurface): Promise<string> {
  // `since` is what earlier clients of the protocol call it.
  const position = queryParam(call, 'lastSequence') ?? queryParam(call, 'since');
  const after = integerParam(position, { name: 'lastSequence', min: 0, max: Number.MAX_SAFE_INTEGER }) ?? -1;
  const seconds = integerParam(queryParam(call, 'timeout'), { name: 'timeout', min: 1, max: 60 }) ?? 30;
  const { record } = await visibleRun(call, log);
  const range = { runId: record.runId, after, audience: call.caller.audience, ...PAGE };
  // Before the read: a commit between the two must not be missed.
  const wait = waiters.wait(range, seconds * 1000);
  const abort = () => wait.cancel();
  call.reply.raw.on('close', abort);
  try {
    let rows = await log.read(range);
    if (rows.length === 0 && !(await isOver(log, range.runId)) && (await wait.woken) === 'commit') {
      rows = await log.read(range);
    }
    return await answer(call, log, rows, after);
  } finally {
    call.reply.raw.off('close', abort);
    wait.cancel();
  }
}

async function isOver(log: EventLog, runId: Row['runId']): Promise<boolean> {
  const head = await log.head(runId);
  return head !== null && isTerminalStatus(head.record.status);
}

/** The head is read after the rows, so that an answer never claims to be complete when a row came between. */
async function answer(call: Call, log: EventLog, rows: readonly Row[], after: number): Promise<string> {
  const { record, seq } = await visibleRun(call, log);
  const isTerminal = isTerminalStatus(record.status);
  const lastEventSeq = rows.at(-1)?.seq ?? after;
  const rest = JSON.stringify({
    runId: record.runId,
    isComplete: isTerminal && lastEventSeq >= seq,
    lastEventSeq,
    runStatus: record.status,
    isTerminal,
  });
  return `{"events":[${rows.map(docText).join()}],${rest.slice(1)}`;
}
