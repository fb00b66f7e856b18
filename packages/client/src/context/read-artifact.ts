/** Reads the content of an artifact, which may be large. */
import { asked, type CallOptions } from '../calls.ts';
import type { Wire } from '../client.ts';
import { type HostRequest, tooLate } from '../connection.ts';

/** A version as it is read. Use one of `body`, `bytes`, `text` and `json`, once. */
export interface ArtifactReading {
  /** Null if the page may not see the header, as one of another origin. */
  readonly version: number | null;
  readonly mimeType: string;
  readonly body: ReadableStream<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  /** A record is `{ data }`, a dataset `{ schema?, rows }`. */
  json(): Promise<unknown>;
}

export async function readArtifact(wire: Wire, path: string, options: CallOptions): Promise<ArtifactReading> {
  const request: HostRequest = { method: 'GET', path, ...asked(options) };
  return readingOf(await wire.connection.retried(request, (one) => begun(wire, one)));
}

/** The time limit holds until the response begins; a large body may take longer. */
async function begun(wire: Wire, request: HostRequest): Promise<Response> {
  const late = new AbortController();
  const timeoutMs = request.timeoutMs ?? wire.timeoutMs;
  const cancel = wire.timers.after(timeoutMs, () => late.abort(tooLate(request, timeoutMs)));
  // The caller's signal stays linked while the body is read, without a listener that somebody must remove.
  const signal = request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
  try {
    return await wire.connection.send({ ...request, signal });
  } finally {
    cancel();
  }
}

function readingOf(response: Response): ArtifactReading {
  const tag = /^(?:W\/)?"(\d+)"$/.exec(response.headers.get('etag') ?? '')?.[1];
  return {
    version: tag === undefined ? null : Number(tag),
    mimeType: response.headers.get('content-type') ?? 'application/octet-stream',
    body: response.body ?? new Blob().stream(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    text: () => response.text(),
    json: () => response.json(),
  };
}
