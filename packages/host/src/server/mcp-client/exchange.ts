/**
 * One exchange with an MCP server: a connection for one listing or one call, with its own limits of bytes and time. It
 * holds nothing afterwards, however the server behaves.
 */

import type { CairnError } from '@cairn/protocol';
import {
  Client,
  type ConnectOptions,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type RequestOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { hostVersion } from '../version.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { mcpError, unanswered } from './mcp-error.ts';
import type { McpServerSettings } from './server-settings.ts';

/** What an earlier exchange found out about the server. */
export type KnownServer = NonNullable<ConnectOptions['prior']>;

export interface ExchangePorts {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  readonly known: KnownServer | undefined;
}

export interface Exchange {
  readonly client: Client;
  /** For each request of the exchange. */
  readonly options: RequestOptions;
}

/** Pages of a listing. */
const MAX_PAGES = 20;

/** How long the message that cancels a call may take. */
const CANCEL_MS = 1_000;

/** Throws errors of the host only. `work` ends with its last request: it does not wait for anything else. */
export async function exchange<Result>(
  server: McpServerSettings,
  ports: ExchangePorts,
  work: (exchange: Exchange) => Promise<Result>,
): Promise<Result> {
  const ended = Promise.withResolvers<never>();
  const end = (why: CairnError): void => ended.reject(why);
  const fetch = guardedFetch(server, { fetch: ports.fetch, end });
  const client = new Client(
    { name: 'cairn', version: hostVersion() },
    {
      versionNegotiation: { mode: 'auto' },
      listMaxPages: MAX_PAGES,
      jsonSchemaValidator: { getValidator: unchecked },
      inputRequired: { autoFulfill: false },
      // A server of an older revision would hold its request open until a person answers.
      capabilities: ports.known?.kind === 'legacy' ? {} : { elicitation: { form: {} } },
    },
  );
  client.onerror = ({ message }) => {
    // An answer with the id of another request never arrives at the one that was made.
    if (message.startsWith('Received a response for an unknown message ID')) end(unanswered(server.id));
  };
  const options: RequestOptions = { signal: ports.signal, timeout: server.timeoutMs };
  const transport = new StreamableHTTPClientTransport(new URL(server.url), { fetch, reconnectionOptions });
  const perform = async (): Promise<Result> => {
    await client.connect(transport, { ...options, ...(ports.known === undefined ? {} : { prior: ports.known }) });
    watchStreams(transport, () => end(unanswered(server.id)));
    return work({ client, options });
  };
  const done = perform();
  try {
    return await Promise.race([done, ended.promise]);
  } catch (error) {
    throw mcpError(server.id, error);
  } finally {
    // Whichever of the two comes later has no reader.
    done.catch(() => undefined);
    ended.promise.catch(() => undefined);
    void close(client, transport, ports.signal.aborted);
  }
}

/** The SDK waits on when the stream of a request ends without an answer. */
function watchStreams(transport: StreamableHTTPClientTransport, ended: () => void): void {
  const send = transport.send.bind(transport);
  let latest: object | null = null;
  transport.send = (message, options) => {
    const sent = {};
    if ('method' in message && 'id' in message) latest = sent;
    // Once the answer was taken, the exchange is over or has made its next request.
    const onRequestStreamEnd = () => void setImmediate(() => latest === sent && ended());
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** A stream that breaks ends its call: the server may have done the work, so nothing repeats it by itself. */
const reconnectionOptions = {
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/** The host checks results itself, with a limit on the cost. */
const unchecked =
  <Value>(_schema: JsonSchemaType): JsonSchemaValidator<Value> =>
  (input) => ({ valid: true, data: input as Value, errorMessage: undefined });

/** Lets the message that cancels a call go out, and ends the session of a server that keeps one. */
async function close(client: Client, transport: StreamableHTTPClientTransport, isCanceled: boolean): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, CANCEL_MS);
  timer.unref();
  try {
    if (isCanceled) await new Promise((resolve) => setImmediate(resolve));
    await Promise.race([transport.terminateSession(), late.promise]);
  } catch {
    // The server forgets the session by itself.
  }
  clearTimeout(timer);
  await client.close().catch(() => undefined);
}
