/**
 * The debug bundle of a run: snapshot, log and spans in one document of bounded size. The newest events are kept first.
 */
import { setImmediate } from 'node:timers/promises';
import { debugBundle, foldEventOf, isoTime, RetryableError, type RunId, type RunSnapshot } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import { docText } from '../../log/feed/frame.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { runSpans } from '../../telemetry/spans.ts';
import { utf8Size } from '../../utf8.ts';
import type { Caller } from '../access/auth.ts';
import { implementation } from '../catalogue/discovery.ts';
import { jsonPieces, nextStretch } from '../http/json-pieces.ts';
import { visibleRun } from '../http/params.ts';
import type { Call, Route } from '../http/routes.ts';

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
  /** Whether secrets are redacted before they are written to the log. */
  readonly isRedacted: boolean;
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
        responses: { 200: { description: 'The bundle, cut to 8 MB when it must be.', shape: debugBundle } },
        errors: ['not_found'],
      },
    },
  ];
}

async function bundle(call: Call, ports: BundlePorts, open: OpenBundles): Promise<string> {
  const head = await visibleRun(call, ports.log);
  open.take(call);
  const text = await bundleText(head, call.caller, ports);
  call.reply.header('cache-control', 'no-store');
  return text;
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
export async function bundleText({ record }: RunHead, caller: Caller, ports: BundlePorts): Promise<string> {
  const { engine, log, version, now, isRedacted } = ports;
  const { runId } = record;
  const { seq, snapshot } = await engine.snapshotAt(caller.tenant, runId);
  const run = await shownRun(snapshot);
  const fixed = utf8Size(run.text) + FRAME_BYTES;
  const found = await newestEvents(log, { runId, seq, audience: caller.audience }, MAX_BUNDLE_BYTES - fixed);
  const room = MAX_BUNDLE_BYTES - fixed - found.bytes;
  // Spans of a log without its beginning would be guesses.
  const spans = found.isWhole ? JSON.stringify(runSpans(runId, found.rows.map(foldEventOf))) : '[]';
  const hasSpans = utf8Size(spans) <= room;
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
    // Redaction happens when the log is written, so nothing is removed here.
    redactionApplied: isRedacted,
    redactionMode: isRedacted ? 'mask' : 'passthrough',
    truncated: cut.length > 0,
    ...(cut.length > 0 && { truncatedReason: cut.join(',') }),
  });
  const events = found.rows.map(eventText).join();
  return `${head.slice(0, -1)},"run":${run.text},"events":[${events}],"spans":${hasSpans ? spans : '[]'},${tail.slice(1)}`;
}

/** Reserved for everything except run, events and spans. */
const FRAME_BYTES = 4_096;

/** The snapshot may fill half of the bundle. A larger one is reduced to identity, status, times and error. */
async function shownRun(snapshot: RunSnapshot): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const pieces = jsonPieces(snapshot);
  let text = '';
  for (let next = nextStretch(pieces); next !== ''; next = nextStretch(pieces)) {
    text += next;
    if (text.length > MAX_BUNDLE_BYTES / 2) break;
    await setImmediate();
  }
  if (utf8Size(text) <= MAX_BUNDLE_BYTES / 2) return { text, isWhole: true };
  const { runId, workflowId, status, owner, currentNodeId, startedAt, completedAt } = snapshot;
  const error = snapshot.error && { code: snapshot.error.code, message: snapshot.error.message.slice(0, 10_000) };
  const short = { runId, workflowId, status, owner, currentNodeId, startedAt, completedAt, error };
  return { text: JSON.stringify(short), isWhole: false };
}

/** Some readers expect the payload under `data`. */
const eventText = (row: Row): string => `${docText(row).slice(0, -1)},"data":${row.payload}}`;

interface Wanted {
  readonly runId: RunId;
  readonly seq: number;
  readonly audience: 'client' | undefined;
}

/** The rows of a chunk that ends with a seq. Large ones come in several pages. */
async function chunkOf(log: EventLog, { runId, seq, audience }: Wanted): Promise<Row[]> {
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
async function newestEvents(log: EventLog, { runId, seq, audience }: Wanted, maxBytes: number) {
  const newest: Row[] = [];
  let bytes = 0;
  for (let upTo = seq; upTo >= 0; upTo -= CHUNK) {
    const rows = await chunkOf(log, { runId, seq: upTo, audience });
    for (const row of rows.reverse()) {
      const size = utf8Size(eventText(row)) + 1;
      if (bytes + size > maxBytes) return { rows: newest.reverse(), bytes, isWhole: false };
      bytes += size;
      newest.push(row);
    }
    await setImmediate();
  }
  return { rows: newest.reverse(), bytes, isWhole: true };
}
