/**
 * The debug bundle of a run: snapshot, log and spans in one document of bounded size. The newest events are kept first.
 */
import { debugBundle, foldEventOf, isoTime, RetryableError, type RunId, type RunSnapshot } from '@cairn/protocol';
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { SnapshotAt } from '../../engine/loading/snapshots.ts';
import { docText } from '../../log/feed/frame.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { maskKeyShapes } from '../../redaction/key-shapes.ts';
import { RunSpans } from '../../telemetry/spans/run-spans.ts';
import { utf8Size } from '../../utf8.ts';
import type { Caller } from '../access/auth.ts';
import { implementation } from '../catalogue/discovery.ts';
import { jsonPieces, nextStretch } from '../http/json-pieces.ts';
import { answerInPieces, type ResponsePorts } from '../http/large-response.ts';
import { atSeqParam, atSeqQuery, requireEvent, visibleRun } from '../http/params.ts';
import type { Call, Route } from '../http/routes.ts';
import type { PastRuns } from './past-runs.ts';
import { withLineage } from './run-family.ts';

/** Maximum bundle size in bytes. */
export const MAX_BUNDLE_BYTES = 8_000_000;

/** Rows per read. It is small because a row may be 1 MiB and other requests wait meanwhile. */
const CHUNK = 16;

export interface BundlePorts {
  readonly engine: Engine;
  readonly log: EventLog;
  /** Version of this program. */
  readonly version: string;
  readonly now: () => number;
  readonly responses: ResponsePorts;
  readonly past: PastRuns;
}

export function debugBundleRoutes(ports: BundlePorts): readonly Route[] {
  const open = new OpenBundles();
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}/debug-bundle',
      scope: 'runs:read',
      handle: (call) => bundle(call, ports, open),
      doc: {
        id: 'getDebugBundle',
        summary: 'A run with its log and spans in one document',
        query: z.object({ atSeq: atSeqQuery }),
        responses: { 200: { description: 'The bundle, cut to 8 MB when it must be.', shape: debugBundle } },
        errors: ['validation_error', 'not_found', 'conflict'],
      },
    },
  ];
}

async function bundle(call: Call, ports: BundlePorts, open: OpenBundles): Promise<string | undefined> {
  const atSeq = atSeqParam(call);
  const head = await visibleRun(call, ports.log);
  if (atSeq !== undefined) requireEvent(head, atSeq);
  open.take(call);
  const pieces = await bundlePieces({ head, caller: call.caller, atSeq }, ports);
  call.reply.header('cache-control', 'no-store');
  return answerInPieces(call, pieces, ports.responses);
}

/** Bundles per tenant that are being built or sent. Each holds megabytes until its response ends. */
const MAX_OPEN_BUNDLES = 4;

class OpenBundles {
  readonly #open = new Map<string, number>();

  /** Takes a slot until the response closes. Throws `rate_limited` when none is free. */
  take({ caller: { tenant }, request, reply }: Call): void {
    const open = this.#open.get(tenant) ?? 0;
    if (open >= MAX_OPEN_BUNDLES) throw tooManyBundles();
    if (request.raw.socket.destroyed) return;
    this.#open.set(tenant, open + 1);
    reply.raw.once('close', () => {
      const left = (this.#open.get(tenant) ?? 0) - 1;
      if (left > 0) this.#open.set(tenant, left);
      else this.#open.delete(tenant);
    });
  }
}

const tooManyBundles = (): RetryableError =>
  new RetryableError('rate_limited', {
    message: `This tenant reads ${MAX_OPEN_BUNDLES} debug bundles already.`,
    hint: 'Read them to their end, or wait for the time in Retry-After.',
    details: { scope: 'tenant', limit: `${MAX_OPEN_BUNDLES} debug bundles at a time`, retryAfterMs: 1_000 },
  });

/** The bundle of a run as this caller may see it. */
export async function bundleText(head: RunHead, caller: Caller, ports: BundlePorts): Promise<string> {
  return [...(await bundlePieces({ head, caller }, ports))].join('');
}

/** A bundle to build: of the present, or as it would have been after an event. */
interface BundleRequest {
  readonly head: RunHead;
  readonly caller: Caller;
  readonly atSeq?: number | undefined;
}

async function shownState(
  { head, caller, atSeq }: BundleRequest,
  { engine, past }: BundlePorts,
): Promise<Pick<SnapshotAt, 'seq' | 'snapshot'>> {
  if (atSeq === undefined) {
    const { seq, snapshot } = await engine.snapshotAt(caller.tenant, head.record.runId);
    return { seq, snapshot: withLineage(snapshot, head.record) };
  }
  return { seq: atSeq, snapshot: await past.snapshot(head, atSeq) };
}

/** Everything is read before the first piece is taken. Only one page, stretch or row is handled at a time. */
async function bundlePieces(request: BundleRequest, ports: BundlePorts): Promise<Generator<string>> {
  const { version, now } = ports;
  const { head: runHead, caller } = request;
  const { runId } = runHead.record;
  const { seq, snapshot } = await shownState(request, ports);
  const run = await shownRun(snapshot, caller.tenant, ports);
  const fixed = run.bytes + FRAME_BYTES;
  const found = await newestEvents(ports, { runId, seq, caller }, MAX_BUNDLE_BYTES - fixed);
  const room = MAX_BUNDLE_BYTES - fixed - found.bytes;
  // Spans of a log without its beginning would be guesses.
  const spans = found.isWhole ? await spansOf(runHead.record, found.rows, { caller, ports }) : NO_SPANS;
  const hasSpans = spans.bytes <= room;
  const cut = [
    ...(run.isWhole ? [] : ['run_truncated_to_size_cap']),
    ...(found.isWhole ? [] : ['events_truncated_to_size_cap']),
    ...(hasSpans ? [] : ['spans_truncated_to_size_cap']),
  ];
  const head = JSON.stringify({ bundleVersion: '1.0', generatedAt: isoTime(now()), host: implementation(version) });
  const tail = JSON.stringify({
    metrics: {
      openwopCost: snapshot.metrics?.openwopCost ?? null,
      nodeCount: Object.keys(snapshot.nodeStates ?? {}).length,
      eventCount: found.rows.length,
    },
    // The log holds no known secret. What only looks like a key is masked here.
    redactionApplied: true,
    redactionMode: 'mask',
    truncated: cut.length > 0,
    ...(cut.length > 0 && { truncatedReason: cut.join(',') }),
  });
  return documentPieces({ head, run, rows: found.rows, spans: hasSpans ? spans : NO_SPANS, tail });
}

function* documentPieces(bundle: {
  readonly head: string;
  readonly run: Part;
  readonly rows: readonly Row[];
  readonly spans: Part;
  readonly tail: string;
}): Generator<string> {
  const { head, run, rows, spans, tail } = bundle;
  yield `${head.slice(0, -1)},"run":`;
  for (const text of run.texts) yield maskKeyShapes(text);
  let lead = ',"events":[';
  for (const row of rows) {
    // Some readers expect the payload under `data`.
    yield maskKeyShapes(`${lead}${docText(row).slice(0, -1)},"data":${row.payload}}`);
    lead = ',';
  }
  yield `${rows.length === 0 ? lead : ''}],"spans":`;
  for (const text of spans.texts) yield maskKeyShapes(text);
  yield `,${tail.slice(1)}`;
}

/** Bytes that an event takes beside its document and the copy of its payload. */
const DATA_BYTES = ',"data":,'.length;

/** Reserved for everything except run, events and spans. */
const FRAME_BYTES = 4_096;

/** A part of the bundle as text. */
interface Part {
  readonly texts: readonly string[];
  readonly bytes: number;
}

const NO_SPANS: Part = { texts: ['[]'], bytes: 2 };

/** The snapshot may fill half of the bundle. A larger one is reduced to identity, status, times and error. */
async function shownRun(
  snapshot: RunSnapshot,
  tenant: string,
  ports: BundlePorts,
): Promise<Part & { readonly isWhole: boolean }> {
  const whole = await rendered(snapshot, tenant, ports);
  if (whole !== null) return { ...whole, isWhole: true };
  const { runId, workflowId, status, owner, currentNodeId, startedAt, completedAt } = snapshot;
  const error = snapshot.error && { code: snapshot.error.code, message: snapshot.error.message.slice(0, 10_000) };
  const short = JSON.stringify({ runId, workflowId, status, owner, currentNodeId, startedAt, completedAt, error });
  return { texts: [short], bytes: utf8Size(short), isWhole: false };
}

/** The text of a value, rendered in turns; null when it would fill more than half of the bundle. */
async function rendered(value: unknown, tenant: string, { responses: { turns } }: BundlePorts): Promise<Part | null> {
  const pieces = jsonPieces(value);
  const texts: string[] = [];
  let bytes = 0;
  while (bytes <= MAX_BUNDLE_BYTES / 2) {
    const text = await turns.take(tenant, () => {
      const next = nextStretch(pieces);
      bytes += utf8Size(next);
      turns.charge(next.length);
      return next;
    });
    if (text === '') return { texts, bytes };
    texts.push(text);
  }
  return null;
}

/** What a row costs to fold, besides its payload. */
const ROW_COST = 512;

async function spansOf(
  record: RunRecord,
  rows: readonly Row[],
  { caller: { tenant }, ports }: { readonly caller: Caller; readonly ports: BundlePorts },
): Promise<Part> {
  const { turns } = ports.responses;
  const spans = new RunSpans(record.runId, record);
  for (const row of rows) {
    await turns.take(tenant, () => {
      spans.take(foldEventOf(row));
      turns.charge(ROW_COST + row.payload.length);
    });
  }
  return (await rendered(spans.docs(), tenant, ports)) ?? { texts: [], bytes: Number.POSITIVE_INFINITY };
}

interface Wanted {
  readonly runId: RunId;
  readonly seq: number;
  readonly caller: Caller;
}

/** The rows of a chunk that ends with a seq. Large ones come in several pages. */
async function chunkOf(log: EventLog, { runId, seq, caller: { audience } }: Wanted): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = Math.max(seq - CHUNK, -1); after < seq; ) {
    const page = await log.read({ runId, after, limit: seq - after, audience });
    rows.push(...page.filter((row) => row.seq <= seq));
    after = page.at(-1)?.seq ?? seq;
  }
  return rows;
}

/**
 * Reads backwards from the end, where failures usually are, until the byte budget is used. Returns rows in log order.
 */
async function newestEvents({ log, responses: { turns } }: BundlePorts, wanted: Wanted, maxBytes: number) {
  const newest: Row[] = [];
  let bytes = 0;
  for (let seq = wanted.seq; seq >= 0; seq -= CHUNK) {
    const rows = await chunkOf(log, { ...wanted, seq });
    for (const row of rows.reverse()) {
      const size = await turns.take(wanted.caller.tenant, () => {
        turns.charge(row.payload.length);
        return utf8Size(docText(row)) + utf8Size(row.payload) + DATA_BYTES;
      });
      if (bytes + size > maxBytes) return { rows: newest.reverse(), bytes, isWhole: false };
      bytes += size;
      newest.push(row);
    }
  }
  return { rows: newest.reverse(), bytes, isWhole: true };
}
