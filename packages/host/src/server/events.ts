/** A run's events: the whole log as JSON, or a stream that goes on where the client was. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { eventsAnswer, quoted, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { Report } from '../engine/ports.ts';
import { docText } from '../log/frame.ts';
import type { EventLog, Row, RunRows } from '../log/port.ts';
import type { EventStreams } from './event-streams.ts';
import { integerParam, visibleRun } from './params.ts';
import { type Call, queryParam, type Route } from './routes.ts';

export interface EventSurface {
  readonly log: EventLog;
  readonly report: Report;
  readonly streams: EventStreams;
}

/** What is read at a time for the JSON form: bounds what a long run holds in memory. */
const PAGE = { limit: 500, maxBytes: 262_144 };

/** How long a client may take nothing before its connection is cut. */
const STALLED_MS = 60_000;

export function eventRoutes(surface: EventSurface): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}/events',
      scope: 'runs:read',
      handle: (call) => events(call, surface),
      doc: {
        id: 'getEvents',
        summary: "Stream a run's events, or read them as JSON",
        query: z.object({
          streamMode: z.string().optional(),
          bufferMs: z.coerce.number().int().min(0).max(5000).optional(),
        }),
        responses: { 200: { description: 'Every event; a stream for who accepts one.', shape: eventsAnswer } },
        errors: ['validation_error', 'unsupported_stream_mode', 'not_found'],
      },
    },
  ];
}

/** Parameters are checked before the form is negotiated, and both before the run is looked up. */
async function events(call: Call, { log, streams, report }: EventSurface): Promise<string | undefined> {
  checkStreamMode(queryParam(call, 'streamMode'));
  integerParam(queryParam(call, 'bufferMs'), { name: 'bufferMs', min: 0, max: 0 });
  const wantsStream = (call.request.headers.accept ?? '').includes('text/event-stream');
  const after = wantsStream ? lastEventId(call.request.headers['last-event-id']) : -1;
  const { record, seq } = await visibleRun(call, log);
  const range = { runId: record.runId, after, audience: call.caller.audience };
  if (wantsStream) {
    call.reply.hijack();
    streams.serve(call.reply.raw, range);
    return undefined;
  }
  const first = await log.read({ ...range, ...PAGE });
  if ((first.at(-1)?.seq ?? seq) >= seq) return `{"events":[${first.map(docText).join()}]}`;
  call.reply.hijack();
  const response = call.reply.raw;
  response.setTimeout(STALLED_MS, () => response.destroy());
  try {
    await writePages(response, log, range, first);
  } catch (error) {
    report({ level: 'error', message: `The events of ${record.runId} could not be read on.`, error });
    // The status is out; only a broken connection can still say that this is not the whole log.
    response.destroy();
  }
  return undefined;
}

/** Page by page, at the pace of the client; a client that goes away ends the reading. */
async function writePages(
  response: ServerResponse,
  log: EventLog,
  range: Omit<RunRows, 'limit'>,
  first: readonly Row[],
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.write('{"events":[');
  for (let page = first, lead = ''; page.length > 0; lead = ',') {
    if (!response.write(lead + page.map(docText).join())) await drained(response);
    if (response.destroyed) return;
    page = await log.read({ ...range, ...PAGE, after: page.at(-1)?.seq ?? 0 });
  }
  response.end(']}');
}

/** Resolves when there is room again, or when nobody reads any more. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).finally(() =>
    settled.abort(),
  );
}

/** Only the whole stream is offered so far: its name is `debug`. */
function checkStreamMode(mode: string | undefined): void {
  if (mode === undefined || mode === 'debug') return;
  throw new TerminalError('unsupported_stream_mode', {
    message: `This host does not stream in mode ${quoted(mode, 60)}.`,
    hint: 'Leave streamMode out, or ask for debug: every event is streamed.',
    details: { supported: ['debug'] },
  });
}

function lastEventId(header: string | readonly string[] | undefined): number {
  if (header === undefined || header === '') return -1;
  const text = typeof header === 'string' ? header : header[0];
  return integerParam(text, { name: 'Last-Event-ID', min: 0, max: Number.MAX_SAFE_INTEGER }) ?? -1;
}
