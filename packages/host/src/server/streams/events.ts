/** A run's events: the whole log as JSON, or a stream that resumes after the client's last event. */
import { eventsAnswer, MAX_BUFFER_MS, parseStreamModes, runEventDoc } from '@cairn/protocol';
import { z } from 'zod';
import type { Report } from '../../engine/ports.ts';
import { docText } from '../../log/feed/frame.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { PacedWriter, takenOver } from '../http/large-response.ts';
import { integerParam, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { UnreadBytes } from '../http/unread-bytes.ts';
import type { EventStreams } from './event-streams.ts';

export interface EventSurface {
  readonly log: EventLog;
  readonly report: Report;
  readonly streams: EventStreams;
  readonly unread: UnreadBytes;
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
          token: z.string().optional().describe('A read token, in the place of a key.'),
        }),
        responses: {
          200: {
            description: 'Every event; a stream for a client that accepts one.',
            shape: eventsAnswer,
            orStream: runEventDoc,
          },
        },
        errors: ['validation_error', 'unsupported_stream_mode', 'not_found'],
      },
    },
  ];
}

/** Parameters are checked before the form is negotiated, and both before the run is looked up. */
async function events(call: Call, { log, streams, unread, report }: EventSurface): Promise<string | undefined> {
  const modes = parseStreamModes(queryParam(call, 'streamMode'));
  const bufferMs = integerParam(queryParam(call, 'bufferMs'), { name: 'bufferMs', min: 0, max: MAX_BUFFER_MS }) ?? 0;
  const wantsStream = (call.request.headers.accept ?? '').includes('text/event-stream');
  const lastSeq = wantsStream ? lastEventId(call.request.headers['last-event-id']) : null;
  const { record, seq } = await visibleRun(call, log);
  const { runId } = record;
  const { tenant, audience, expiresAt } = call.caller;
  if (wantsStream) {
    streams.serve(takenOver(call), { tenant, runId, lastSeq, audience, modes, bufferMs, expiresAt });
    return undefined;
  }
  const range = { runId, after: -1, audience };
  const first = await log.read({ ...range, ...PAGE });
  if ((first.at(-1)?.seq ?? seq) >= seq) return `{"events":[${first.map(docText).join()}]}`;
  const writer = new PacedWriter(call, unread);
  try {
    await writePages(writer, (after) => log.read({ ...range, ...PAGE, after }), first);
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
