/**
 * Exchanges with an MCP server over streamable HTTP. Each is a connection for one listing or one call, with its own limits
 * of bytes and time. It releases all resources at its end, even if the server misbehaves.
 */

import { setTimeout as wait } from 'node:timers/promises';
import type { CairnError } from '@cairn/protocol';
import {
  type Client,
  type RequestOptions,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { guardedFetch } from './guarded-fetch.ts';
import { mcpError, unanswered } from './mcp-error.ts';
import { type Connection, createClient, type Exchange, type KnownServer, knownFrom } from './sdk-client.ts';
import type { HttpServerSettings } from './server-settings.ts';

export interface HttpPorts {
  readonly fetch: typeof globalThis.fetch;
  readonly toolsChanged: () => void;
}

/** How long the message that cancels a call may take each time, and how often it is sent again, after which waits. */
const CANCEL_MS = 1_000;
const CANCEL_WAITS_MS = [100, 400, 1_600];

/** How long the end of a session may take. */
const END_MS = 1_000;

export class HttpConnection implements Connection {
  readonly #server: HttpServerSettings;
  readonly #ports: HttpPorts;
  /** Cleared when an exchange fails, because another server may run there now. */
  #known: KnownServer | undefined;
  /** Connections that are being closed. */
  #closing = 0;

  constructor(server: HttpServerSettings, ports: HttpPorts) {
    this.#server = server;
    this.#ports = ports;
  }

  async exchange<Result>(signal: AbortSignal, work: (exchange: Exchange) => Promise<Result>): Promise<Result> {
    const ended = Promise.withResolvers<never>();
    const opened = this.#open(signal, ended.reject);
    const done = opened.connected.then(() => work(opened));
    try {
      return await Promise.race([done, ended.promise]);
    } catch (error) {
      if (!signal.aborted) this.#known = undefined;
      throw mcpError(this.#server.id, error);
    } finally {
      // The rejection of the one that settles later has no handler.
      done.catch(() => undefined);
      ended.promise.catch(() => undefined);
      void this.#close(opened);
    }
  }

  #open(signal: AbortSignal, end: (why: CairnError) => void) {
    const server = this.#server;
    const known = this.#known;
    const fetch = guardedFetch(server, { fetch: this.#ports.fetch, end });
    const { client, elicits } = createClient({ toolsChanged: this.#ports.toolsChanged });
    client.onerror = ({ message }) => {
      // The SDK ignores a response with another request id, so this request would never end.
      if (message.startsWith('Received a response for an unknown message ID')) end(unanswered(server.id));
    };
    const options: RequestOptions = { signal, timeout: server.timeoutMs };
    const transport = new StreamableHTTPClientTransport(new URL(server.url), { fetch, reconnectionOptions });
    const sending: Sending = { cancel: Promise.resolve() };
    const connect = async (): Promise<void> => {
      await client.connect(transport, { ...options, ...(known === undefined ? {} : { prior: known }) });
      this.#known = knownFrom(client);
      watchRequests(transport, sending, () => end(unanswered(server.id)));
    };
    return { client, elicits, options, transport, sending, connected: connect() };
  }

  /** Skips ending the session if too many ends are pending, so that a slow server holds no more than its concurrent calls. */
  async #close(opened: Opened): Promise<void> {
    this.#closing += 1;
    const hasRoom = this.#closing <= this.#server.maxCallsAtOnce;
    await (hasRoom ? close(opened) : opened.client.close().catch(() => undefined));
    this.#closing -= 1;
  }

  reset(): void {
    this.#known = undefined;
  }

  async close(): Promise<void> {
    // Each exchange has closed its own connection.
  }
}

interface Opened {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  readonly sending: Sending;
}

interface Sending {
  /** Settles once the server has received the cancel notification, or the host gives up. */
  cancel: Promise<void>;
}

type Send = StreamableHTTPClientTransport['send'];

/** The SDK waits on when the stream of a request ends without an answer, and sends what cancels it once. */
function watchRequests(transport: StreamableHTTPClientTransport, sending: Sending, ended: () => void): void {
  const send: Send = transport.send.bind(transport);
  let latest: object | null = null;
  transport.send = (message, options) => {
    if ('method' in message && message.method === 'notifications/cancelled') {
      sending.cancel = insistently(() => send(message, { ...options, requestSignal: AbortSignal.timeout(CANCEL_MS) }));
      return sending.cancel;
    }
    const sent = {};
    if ('method' in message && 'id' in message) latest = sent;
    // Once the answer was taken, the exchange is over or has made its next request.
    const onRequestStreamEnd = () => void setImmediate(() => latest === sent && ended());
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** Retries after a temporary failure. Never rejects, because no caller waits any more. */
async function insistently(send: () => Promise<void>): Promise<void> {
  for (const waitMs of [...CANCEL_WAITS_MS, null]) {
    try {
      await send();
      return;
    } catch (error) {
      const isRefused = error instanceof SdkHttpError && error.status !== 429 && error.status < 500;
      if (isRefused || waitMs === null) return;
      await wait(waitMs, undefined, { ref: false });
    }
  }
}

/** A broken stream ends its call. The server may have done the work, so the host does not retry on its own. */
const reconnectionOptions = {
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/** Waits until the cancel notification of a call has arrived, and ends the session if the server has one. */
async function close({ client, transport, sending }: Opened): Promise<void> {
  await sending.cancel;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, END_MS);
  timer.unref();
  try {
    await Promise.race([transport.terminateSession(), late.promise]);
  } catch {
    // The server expires the session on its own.
  }
  clearTimeout(timer);
  await client.close().catch(() => undefined);
}
