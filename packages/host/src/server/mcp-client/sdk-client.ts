/** The client of the SDK, set up so that the host itself decides what it checks, waits for and follows. */
import {
  Client,
  type ClientOptions,
  type ConnectOptions,
  type ElicitRequest,
  type ElicitResult,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import { hostVersion } from '../version.ts';

/** What an earlier connection learned about the server. */
export type KnownServer = NonNullable<ConnectOptions['prior']>;

/** Asks people what a server of a revision of 2025 asks over the connection of a call. */
export type Elicit = (params: ElicitRequest['params']) => Promise<ElicitResult>;

/** A client, and the open calls that its server may ask about. */
export interface AskedClient {
  readonly client: Client;
  readonly elicits: Set<Elicit>;
}

/** What a listing or a call uses: a connected client, and the options for each of its requests. */
export interface Exchange extends AskedClient {
  readonly options: RequestOptions;
}

/** A connection to one server over any transport. */
export interface Connection {
  /** Throws errors of the host only. `work` ends with its last request: it does not wait for anything else. */
  exchange<Result>(signal: AbortSignal, work: (exchange: Exchange) => Promise<Result>): Promise<Result>;
  /** Discards what an exchange found out, and releases what it holds: the server does not answer. */
  reset(): void;
  close(): Promise<void>;
}

/** Maximum pages of a listing. */
const MAX_PAGES = 20;

export interface ClientSettings {
  readonly probeMs?: number;
  /** The server announces that its tools have changed. */
  readonly toolsChanged: () => void;
}

export function createClient({ probeMs, toolsChanged }: ClientSettings): AskedClient {
  const options: ClientOptions = {
    versionNegotiation: { mode: 'auto', ...(probeMs === undefined ? {} : { probe: { timeoutMs: probeMs } }) },
    listMaxPages: MAX_PAGES,
    jsonSchemaValidator: { getValidator: unchecked },
    inputRequired: { autoFulfill: false },
    capabilities: { elicitation: { form: {} } },
  };
  const client = new Client({ name: 'cairn', version: hostVersion() }, options);
  client.setNotificationHandler('notifications/tools/list_changed', toolsChanged);
  const elicits = new Set<Elicit>();
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const [asked, another] = elicits;
    // Over pipes, nothing says which of two calls the question is about.
    return asked === undefined || another !== undefined ? { action: 'cancel' } : asked(params);
  });
  return { client, elicits };
}

/** The host checks results itself, with a limit on the cost. */
const unchecked =
  <Value>(_schema: JsonSchemaType): JsonSchemaValidator<Value> =>
  (input) => ({ valid: true, data: input as Value, errorMessage: undefined });

export const knownFrom = (client: Client): KnownServer => {
  const discover = client.getDiscoverResult();
  return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
};
