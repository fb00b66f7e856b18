/** `GET /v1/host/cairn/runs/{runId}/causes`: the recorded causes of a run's events, up to the event of another run. */
import {
  type Causes,
  causes,
  eventId,
  foldEventOf,
  isoTime,
  parentOf,
  remoteRun,
  TerminalError,
} from '@cairn/protocol';
import { z } from 'zod';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { derivedTraceId, parseTraceparent } from '../../telemetry/trace-context.ts';
import { atSeqParam, atSeqQuery, integerParam, requireEvent, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';

export interface CausesPorts {
  readonly log: EventLog;
  readonly hostId: string;
}

/** Events of one response. */
const MAX_EVENTS = 500;

/**
 * Bytes of payloads that are looked through for a page, all in one turn of the event loop. For a chain they are more: each
 * of its events is read, and looked through, by itself.
 */
const PAGE_BYTES = 524_288;
const CHAIN_BYTES = 1_048_576;

export const causesRoutes = (ports: CausesPorts): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/host/cairn/runs/{runId}/causes',
    scope: 'runs:read',
    handle: (call) => causesOf(call, ports),
    doc: {
      id: 'getCauses',
      summary: 'Read what caused the events of a run',
      query: z.object({
        of: z
          .union([z.coerce.number().int().min(0), z.literal('last')])
          .optional()
          .describe('Shows the chain of causes of the event with this sequence, or of the last one.'),
        after: z.coerce.number().int().min(0).optional().describe('Continues after this sequence.'),
        atSeq: atSeqQuery,
      }),
      responses: { 200: { description: 'Events with their causes.', shape: causes } },
      errors: ['not_found', 'validation_error'],
    },
  },
];

type CausedEvent = Causes['events'][number];

async function causesOf(call: Call, { log, hostId }: CausesPorts): Promise<string> {
  const head = await headThen(call, log);
  const number = (name: string) => integerParam(queryParam(call, name), { name, min: 0, max: Number.MAX_SAFE_INTEGER });
  const of = queryParam(call, 'of') === 'last' ? head.seq : number('of');
  const isForClient = call.caller.audience === 'client';
  const show = (row: Row): CausedEvent => (isForClient && row.audience !== 'client' ? placeOf(row) : caused(row));
  const reading = { log, show };
  const page =
    of === undefined ? await pageAfter(head, reading, number('after') ?? -1) : await chainOf(head, reading, of);
  const [first] = await log.read({ runId: head.record.runId, after: -1, limit: 1, isForFrames: true });
  const body: Causes = {
    runId: head.record.runId,
    hostId,
    events: page.events,
    next: page.next,
    ...(of !== undefined && { traceId: traceOf(head, first) }),
    parent: parentEvent(head, first, hostId),
  };
  return JSON.stringify(body);
}

/** The run as it was: events and their causes never change, so only where it ends does. */
async function headThen(call: Call, log: EventLog): Promise<RunHead> {
  const atSeq = atSeqParam(call);
  const head = await visibleRun(call, log);
  if (atSeq === undefined) return head;
  requireEvent(head, atSeq);
  return { ...head, seq: atSeq };
}

interface Reading {
  readonly log: EventLog;
  /** As this caller sees it. */
  readonly show: (row: Row) => CausedEvent;
}

interface Page {
  readonly events: readonly CausedEvent[];
  readonly next: number | null;
}

async function pageAfter({ record: { runId }, seq }: RunHead, { log, show }: Reading, after: number): Promise<Page> {
  const found = await log.read({ runId, after, limit: MAX_EVENTS, maxBytes: PAGE_BYTES, isForFrames: true });
  // One more may have been written since, or follow what is asked for.
  const rows = found.filter((row) => row.seq <= seq);
  const last = rows.at(-1)?.seq ?? seq;
  return { events: rows.map(show), next: last < seq ? last : null };
}

/** Follows the causes inside the run. Every cause has a smaller sequence, so this ends. */
async function chainOf(head: RunHead, { log, show }: Reading, of: number): Promise<Page> {
  const { runId } = head.record;
  if (of > head.seq) {
    throw new TerminalError('validation_error', {
      message: `Run ${runId} has no event ${of}; its last one is ${head.seq}.`,
      hint: `Use an event from 0 to ${head.seq}.`,
      details: { parameter: 'of', lastSequence: head.seq },
    });
  }
  const events: CausedEvent[] = [];
  let next: number | null = of;
  let bytes = 0;
  while (next !== null && events.length < MAX_EVENTS && bytes < CHAIN_BYTES) {
    const [row]: readonly Row[] = await log.read({ runId, after: next - 1, limit: 1 });
    if (row === undefined || row.seq !== next) break;
    const shown = show(row);
    events.push(shown.type === undefined ? shown : { ...shown, hash: row.hash });
    bytes += row.payload.length;
    next = typeof row.cause === 'number' && row.cause < row.seq ? row.cause : null;
  }
  return { events, next };
}

const placeOf = ({ runId, seq, at }: Row): CausedEvent => ({
  eventId: eventId(runId, seq),
  sequence: seq,
  timestamp: isoTime(at),
});

function caused(row: Row): CausedEvent {
  const { runId, type, nodeId, cause } = row;
  const { payload } = foldEventOf(row);
  const agentId = textIn(payload, 'agentId');
  const causationHostId = textIn(payload, 'causationHostId');
  const remote = remoteRun.safeParse(memberOf(payload, 'remote'));
  return {
    ...placeOf(row),
    type,
    ...(nodeId === null ? {} : { nodeId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(cause === null ? {} : { causationId: typeof cause === 'number' ? eventId(runId, cause) : cause }),
    ...(causationHostId === undefined ? {} : { causationHostId }),
    ...(remote.success ? { remote: remote.data } : {}),
  };
}

const memberOf = (payload: object, name: string): unknown =>
  Object.hasOwn(payload, name) ? Reflect.get(payload, name) : undefined;

const textIn = (payload: object, name: string): string | undefined => {
  const value = memberOf(payload, name);
  return typeof value === 'string' ? value : undefined;
};

/** The trace of its request. A fork, and a run whose request had none, has one of its own. */
function traceOf({ record: { runId, fork } }: RunHead, first: Row | undefined): string {
  const event = first === undefined || fork !== null ? null : foldEventOf(first);
  const given = event?.type === 'run.started' ? parseTraceparent(event.payload.traceparent) : null;
  return given?.traceId ?? derivedTraceId(runId);
}

/** The cause of the first event. No event in the log requested a fork. */
function parentEvent({ record }: RunHead, first: Row | undefined, hostId: string): Causes['parent'] {
  if (record.fork !== null) return null;
  const event = first === undefined ? null : foldEventOf(first);
  if (event?.type !== 'run.started' || typeof event.cause !== 'string') return null;
  const parent = parentOf(event.payload);
  if (parent === null) return null;
  const { runId } = parent;
  if (parent.kind === 'local') return { eventId: event.cause, runId, hostId };
  return { eventId: event.cause, runId, hostId: parent.hostId, wellKnownUrl: parent.wellKnownUrl };
}
