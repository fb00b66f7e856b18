/** A run's events: the whole log as JSON, or a stream that resumes after the client's last event. */
import { eventsAnswer, MAX_BUFFER_MS, parseStreamModes, runEventDoc } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import type { FairTurns } from '../../fair-turns.ts';
import type { LiveFeed } from '../../log/feed/feed.ts';
import { docText } from '../../log/feed/frame.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { acceptsStream } from '../http/accepts-stream.ts';
import { PacedWriter, takenOver } from '../http/large-response.ts';
import { atSeqParam, integerParam, requireEvent, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { UnreadBytes } from '../http/unread-bytes.ts';
import type { OpenSnapshots } from '../runs/open-snapshots.ts';
import type { PastRuns } from '../runs/past-runs.ts';
import type { EventStreams, StreamRequest } from './event-streams.ts';
import { subscribePast } from './past-stream.ts';
import { steppedRun } from './stepped-run.ts';
import { formOf } from './stream-lens.ts';

export interface EventSurface {
  readonly engine: Pick<Engine, 'isSteppedHere'>;
  readonly feed: Pick<LiveFeed, 'contextOfYoung'>;
  readonly log: EventLog;
  readonly report: Report;
  readonly streams: EventStreams;
  readonly unread: UnreadBytes;
  readonly past: PastRuns;
  readonly openSnapshots: OpenSnapshots;
  readonly turns: FairTurns;
}

/** What the JSON form reads at a time; it bounds the memory of a long run. */
const PAGE = { limit: 500, maxBytes: 262_144 };

export function eventRoutes(surface: EventSurface): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}/events',
      scope: 'runs:read',
      holds: true,
      takesToken: true,
      handle: (call) => events(call, surface),
      doc: {
        id: 'getEvents',
        summary: "Stream a run's events, or read them as JSON",
        query: z.object({
          streamMode: z
            .string()
            .optional()
            .describe(
              'updates (the default), values, messages or debug; or several of them but values, with commas between.',
            ),
          bufferMs: z.coerce
            .number()
            .int()
            .min(0)
            .max(MAX_BUFFER_MS)
            .optional()
            .describe('How long events may be held back to be sent as one batch, in milliseconds.'),
          atSeq: z.coerce
            .number()
            .int()
            .min(0)
            .optional()
            .describe('Ends with the event of this sequence. With values, gives the state after it.'),
          token: z.string().optional().describe('A read token, in the place of a key.'),
        }),
        responses: {
          200: {
            description: 'Every event; a stream for a client that accepts one.',
            shape: eventsAnswer,
            orStream: runEventDoc,
          },
        },
        errors: ['validation_error', 'unsupported_stream_mode', 'not_found', 'conflict'],
      },
    },
  ];
}

/** Parameters are checked before the form is negotiated, and both before the run is looked up. */
async function events(call: Call, surface: EventSurface): Promise<string | undefined> {
  const modes = parseStreamModes(queryParam(call, 'streamMode'));
  const bufferMs = integerParam(queryParam(call, 'bufferMs'), { name: 'bufferMs', min: 0, max: MAX_BUFFER_MS }) ?? 0;
  const atSeq = atSeqParam(call);
  const wantsStream = acceptsStream(call.request.headers.accept);
  const lastSeq = wantsStream ? lastEventId(call.request.headers['last-event-id']) : null;
  const young = wantsStream && lastSeq === null && atSeq === undefined ? youngRun(call, surface) : null;
  if (young !== null) return stream(call, { record: young, lastSeq, modes, bufferMs }, surface);
  const head = await visibleRun(call, surface.log);
  if (atSeq !== undefined) requireEvent(head, atSeq);
  if (!wantsStream) return allEvents(call, { head, upTo: atSeq }, surface);
  if (atSeq === undefined) return stream(call, { record: head.record, lastSeq, modes, bufferMs }, surface);
  const { runId } = head.record;
  const { tenant, audience, expiresAt } = call.caller;
  if (modes.has('values')) surface.past.requireFoldable(head, atSeq);
  const range = { head, atSeq, after: lastSeq ?? -1, audience, modes, form: formOf(bufferMs) };
  surface.streams.serveFrom(takenOver(call), { tenant, bufferMs, expiresAt, what: runId }, (sink) =>
    subscribePast(range, surface, sink),
  );
  return undefined;
}

/**
 * A run that was started here a moment ago: a client that follows it from its beginning needs nothing of the log. Its end
 * is among the events that are told, whichever node writes it.
 */
function youngRun(call: Call, { engine, feed }: EventSurface): StreamRequest['record'] | null {
  const runId = steppedRun(call, engine);
  const contextId = runId === null ? null : feed.contextOfYoung(runId);
  return runId === null || contextId === null ? null : { runId, contextId, tenant: call.caller.tenant, endedAt: null };
}

function stream(
  call: Call,
  request: Pick<StreamRequest, 'record' | 'lastSeq' | 'modes' | 'bufferMs'>,
  { streams }: EventSurface,
): undefined {
  const { tenant, audience, expiresAt } = call.caller;
  streams.serve(takenOver(call), { ...request, tenant, audience, expiresAt });
}

interface Log {
  readonly head: RunHead;
  /** The last event of the answer. Default: the newest. */
  readonly upTo: number | undefined;
}

/** The log as one JSON document. */
async function allEvents(call: Call, { head, upTo }: Log, surface: EventSurface): Promise<string | undefined> {
  const { log, unread, report } = surface;
  const { runId } = head.record;
  const range = { runId, audience: call.caller.audience };
  const read = async (after: number): Promise<readonly Row[]> => {
    if (upTo === undefined) return log.read({ ...range, ...PAGE, after });
    const limit = Math.min(PAGE.limit, upTo - after);
    const page = limit <= 0 ? [] : await log.read({ ...range, ...PAGE, after, limit });
    // Without operator rows, a page may reach beyond the last event.
    return page.filter(({ seq }) => seq <= upTo);
  };
  const first = await read(-1);
  const end = upTo ?? head.seq;
  if ((first.at(-1)?.seq ?? end) >= end) return `{"events":[${first.map(docText).join()}]}`;
  const writer = new PacedWriter(call, unread);
  try {
    await writePages(writer, read, first);
  } catch (error) {
    report({ level: 'error', event: 'stream.read_failed', facts: { stream: runId }, error });
    // The status is out: only a broken connection still says that this is not the whole log.
    writer.cut();
  }
  return undefined;
}

/** Writes page by page; stops reading when the client is gone. */
async function writePages(
  writer: PacedWriter,
  read: (after: number) => Promise<readonly Row[]>,
  first: readonly Row[],
): Promise<void> {
  let lead = '{"events":[';
  for (let page = first; page.length > 0; lead = ',') {
    await writer.write(lead + page.map(docText).join());
    if (writer.isGone) return;
    page = await read(page.at(-1)?.seq ?? 0);
  }
  writer.end(']}');
}

/** The seq of the client's last event; null when it has none. */
function lastEventId(header: string | readonly string[] | undefined): number | null {
  if (header === undefined || header === '') return null;
  const text = typeof header === 'string' ? header : header[0];
  return integerParam(text, { name: 'Last-Event-ID', min: 0, max: Number.MAX_SAFE_INTEGER }) ?? null;
}
