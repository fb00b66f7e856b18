/** Responses that may be large: a small one is sent at once, a large one piece by piece at the pace of its client. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FairTurns } from '../../fair-turns.ts';
import { nextStretch, STRETCH } from './json-pieces.ts';
import type { Call } from './routes.ts';
import { type Kept, LARGE_BYTES, type UnreadBytes } from './unread-bytes.ts';

/** A client that takes nothing for so long is cut. */
const STALLED_MS = 60_000;

export interface ResponsePorts {
  readonly unread: UnreadBytes;
  readonly turns: FairTurns;
}

/** What a document counts for that is rendered for one response, in bytes: it stays in memory while the response waits. */
const KEPT_BYTES = 4_194_304;

interface PieceOptions extends ResponsePorts {
  /** What the pieces are rendered from, if several responses share it. */
  readonly kept?: Kept;
  readonly stalled?: () => void;
}

/** Returns a small document for the caller to send, or sends a large one and returns undefined. */
export async function answerInPieces(
  call: Call,
  pieces: Iterator<string>,
  { unread, turns, kept = { bytes: KEPT_BYTES }, stalled }: PieceOptions,
): Promise<string | undefined> {
  const { tenant } = call.caller;
  const next = () =>
    turns.take(tenant, () => {
      const text = nextStretch(pieces);
      turns.charge(text.length);
      return text;
    });
  const first: string[] = [];
  for (let size = 0; size < LARGE_BYTES; size += first.at(-1)?.length ?? 0) {
    const text = await next();
    first.push(text);
    if (text.length < STRETCH) return first.join('');
  }
  const writer = new PacedWriter(call, unread, { kept, ...(stalled && { stalled }) });
  for (const text of first) await writer.write(text);
  for (let text = await next(); text !== '' && !writer.isGone; text = await next()) await writer.write(text);
  writer.end();
  return undefined;
}

interface WriterOptions {
  /** What stays in memory while the client reads. Default: nothing. */
  readonly kept?: Kept;
  /** Called when the client does not keep up. */
  readonly stalled?: () => void;
  /** Default: JSON. */
  readonly contentType?: string;
  /** Default 200. */
  readonly status?: number;
}

/** Writes a document at the pace of its client, and counts what waits for it. */
export class PacedWriter {
  readonly #response: ServerResponse;
  readonly #tenant: string;
  readonly #unread: UnreadBytes;
  readonly #options: WriterOptions;

  /** Sends the head. From here on, only a broken connection says that the document is not whole. */
  constructor(call: Call, unread: UnreadBytes, options: WriterOptions = {}) {
    this.#options = options;
    this.#response = takenOver(call);
    this.#tenant = call.caller.tenant;
    this.#unread = unread;
    this.#response.setTimeout(STALLED_MS, () => this.#response.destroy());
    const { status = 200, contentType = 'application/json; charset=utf-8' } = options;
    this.#response.writeHead(status, { 'content-type': contentType });
  }

  get isGone(): boolean {
    return this.#response.destroyed;
  }

  /** Resolves when the client has room for more, or is gone. */
  async write(text: string | Uint8Array): Promise<void> {
    const response = this.#response;
    if (response.destroyed || response.write(text)) return;
    const { kept, stalled } = this.#options;
    stalled?.();
    this.#unread.wait(this.#tenant, response, { bytes: response.writableLength, kept });
    await drained(response);
    this.#unread.read(this.#tenant, response);
  }

  /** Resolves when the bytes have left this process, so that their memory is free, or when the client is gone. */
  async flush(bytes: Uint8Array): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    response.once('close', resolve);
    if (!response.write(bytes, () => resolve()))
      this.#unread.wait(this.#tenant, response, { bytes: response.writableLength });
    await promise;
    response.off('close', resolve);
    this.#unread.read(this.#tenant, response);
  }

  end(text = ''): void {
    this.#response.end(text);
  }

  /** Breaks the connection off. */
  cut(): void {
    this.#response.destroy();
  }
}

/** Takes the response over from Fastify, with the headers that were set so far. */
export function takenOver({ reply }: Call): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw;
}

/** Resolves when the response has drained or closed. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const done = new AbortController();
  const { signal } = done;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).finally(() =>
    done.abort(),
  );
}
