/** Long poll: the events after a position, or the wait for the next one. */
import { isTerminalStatus, POLL_TIMEOUT, pollAnswer, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Timers } from '../../engine/ports.ts';
import type { Chunk } from '../../log/feed/sink.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import { integerParam, visibleRun } from '../http/params.ts';
import { type Call, pathParam, queryParam, type Route } from '../http/routes.ts';
import type { PollFeed, Standing } from './poll-feed.ts';
import { steppedRun } from './stepped-run.ts';

export interface PollSurface {
  readonly engine: Pick<Engine, 'isSteppedHere'>;
  readonly log: EventLog;
  readonly polls: PollFeed;
  readonly timers: Timers;
}

/** Event documents with commas between them, and the seq of the last; that of the request when there are none. */
interface Documents extends Pick<Chunk, 'text' | 'upTo'> {
  /** Where the run stands, if it is known. */
  readonly standing: Standing | null;
}

export function pollRoutes(surface: PollSurface): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}/events/poll',
      scope: 'runs:read',
      holds: true,
      takesToken: true,
      handle: (call) => poll(call, surface),
      doc: {
        id: 'pollEvents',
        summary: "Wait for a run's next events",
        query: z.object({
          lastSequence: z.coerce.number().int().min(0).optional(),
          since: z.coerce.number().int().min(0).optional(),
          timeout: z.coerce.number().int().min(POLL_TIMEOUT.min).max(POLL_TIMEOUT.max).optional(),
          token: z.string().optional(),
        }),
        responses: {
          200: { description: 'The events after the position; none when the time is over.', shape: pollAnswer },
        },
        errors: ['validation_error', 'not_found'],
      },
    },
  ];
}

async function poll(call: Call, { engine, log, polls, timers }: PollSurface): Promise<string> {
  if (queryParam(call, 'atSeq') !== undefined) throw noPast();
  // `since` is the name in earlier versions of the protocol.
  const position = queryParam(call, 'lastSequence') ?? queryParam(call, 'since');
  const after = integerParam(position, { name: 'lastSequence', min: 0, max: Number.MAX_SAFE_INTEGER }) ?? -1;
  const seconds = integerParam(queryParam(call, 'timeout'), { name: 'timeout', min: 1, max: 60 }) ?? 30;
  const runId = steppedRun(call, engine) ?? (await visibleRun(call, log)).record.runId;
  const { promise, resolve, reject } = Promise.withResolvers<Documents>();
  const giveUp = () => resolve({ text: '', upTo: after, standing: null });
  const subscription = polls.subscribe(
    { runId, after, audience: call.caller.audience },
    {
      write({ text, upTo }) {
        if (text === '') giveUp();
        else resolve({ text, upTo, standing: subscription.standing });
        return false;
      },
      end: (fault) => (fault === undefined ? giveUp() : reject(fault)),
    },
  );
  const cancelTimeout = timers.after(seconds * 1000, giveUp);
  call.reply.raw.on('close', giveUp);
  try {
    return await answer(call, log, await promise);
  } finally {
    call.reply.raw.off('close', giveUp);
    cancelTimeout();
    subscription.close();
  }
}

/** A view of the past has nothing to wait for. */
const noPast = (): TerminalError =>
  new TerminalError('validation_error', {
    message: 'A poll waits for events to come and cannot show the past.',
    hint: 'Leave atSeq out, or read GET /v1/runs/{runId}/events?atSeq=N.',
    details: { parameter: 'atSeq' },
  });

/** What is said of the run is not older than the rows, so that no answer claims to be complete when a row came between. */
async function answer(call: Call, log: EventLog, { text, upTo, standing }: Documents): Promise<string> {
  const { seq, status } = standing !== null && standing.seq >= upTo ? standing : await standingNow(call, log);
  const isTerminal = isTerminalStatus(status);
  const rest = JSON.stringify({
    runId: pathParam(call, 'runId'),
    isComplete: isTerminal && upTo >= seq,
    lastEventSeq: upTo,
    runStatus: status,
    isTerminal,
  });
  return `{"events":[${text}],${rest.slice(1)}`;
}

async function standingNow(call: Call, log: EventLog): Promise<Standing> {
  const { seq, record } = await visibleRun(call, log);
  return { seq, status: record.status };
}
