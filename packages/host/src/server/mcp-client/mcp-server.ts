/** One MCP server: a cached list of its tools, and its calls, of which a few run concurrently. */
import { type CairnError, isJsonObject, type JsonObject } from '@cairn/protocol';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext, Tool } from '../../agents/tools/tool.ts';
import type { Report } from '../../engine/ports.ts';
import type { CallOrigin } from '../peers/call-origin.ts';
import { CallSlots } from './call-slots.ts';
import { callTool } from './call-tool.ts';
import { type CallKey, type HeldCall, HeldCalls, type Outcome, type Questions } from './held-calls.ts';
import { HttpConnection } from './http-connection.ts';
import { type AnsweredInput, answersTo, endlessQuestions, inputNeeded, MAX_ROUNDS } from './input-needed.ts';
import { checkListing, hostTool, type KnownTool } from './listed-tools.ts';
import { mcpError } from './mcp-error.ts';
import type { Connection, Exchange } from './sdk-client.ts';
import type { McpServerSettings } from './server-settings.ts';
import { StdioConnection } from './stdio/stdio-connection.ts';

export interface McpPorts extends CallOrigin {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly report: Report;
  /** The tools of a server have changed. */
  readonly changed: () => void;
}

/** Time before the host lists a server again that failed to list its tools. */
const RETRY_MS = 10_000;

/** Timeout of a listing. */
const LIST_TIMEOUT_MS = 10_000;

/** Stands for a result whose record is used instead. */
const nothing: Questions = { result: { resultType: 'input_required' }, isHeld: false };

interface Asked {
  readonly tool: KnownTool;
  readonly input: JsonObject;
}

/** Answers of people, and whether the server waits for them on its connection. */
interface Answered {
  readonly input: AnsweredInput;
  readonly isHeld: boolean;
}

/** Such a server asks one question at a time. */
const replyOf = ({ inputResponses }: AnsweredInput): ElicitResult => {
  const [given] = Object.values(inputResponses);
  if (given?.action === 'decline') return { ...given, action: 'decline' };
  const content = isJsonObject(given?.content) ? given.content : {};
  return { action: 'accept', content: content as ElicitResult['content'] };
};

export class McpServer {
  readonly #server: McpServerSettings;
  readonly #ports: McpPorts;
  readonly #slots: CallSlots;
  readonly #connection: Connection;
  readonly #held: HeldCalls;
  #tools: readonly Tool[] = [];
  #staleAt = Number.NEGATIVE_INFINITY;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;
  #isDown = false;

  constructor(server: McpServerSettings, ports: McpPorts) {
    this.#server = server;
    this.#ports = ports;
    this.#slots = new CallSlots({ atOnce: server.maxCallsAtOnce, perTenant: server.maxTenantCallsAtOnce });
    this.#held = new HeldCalls(server);
    const { now, report, fetch } = ports;
    const toolsChanged = () => this.#toolsChanged();
    this.#connection =
      'url' in server
        ? new HttpConnection(server, { fetch, toolsChanged })
        : new StdioConnection(server, { now, report, toolsChanged });
  }

  get id(): string {
    return this.#server.id;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Stands for a tool that may be listed later. Its arguments are checked when it is called. */
  unlisted(id: string): Tool {
    const name = id.slice(id.indexOf('/') + 1);
    return hostTool(this.#server, { name, inputSchema: {}, safety: 'write' }, this.#call);
  }

  /** Lists the tools again if the list has expired. Never rejects. */
  refresh(): Promise<void> {
    if (this.#ports.now() < this.#staleAt) return Promise.resolve();
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
    });
    return this.#listing;
  }

  async #list(): Promise<void> {
    const { report } = this.#ports;
    const server = this.id;
    try {
      const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
      const list = ({ client, options }: Exchange) => client.listTools(undefined, options);
      const listed = await this.#connection.exchange(signal, list);
      const { tools, refused } = await checkListing(this.#server, listed.tools);
      this.#listedAt = this.#ports.now();
      this.#staleAt = this.#listedAt + this.#server.listEveryMs;
      if (refused.length > 0) report({ level: 'warn', event: 'mcp.tools_refused', facts: { server, refused } });
      if (this.#isDown) report({ level: 'info', event: 'mcp.recovered', facts: { server } });
      this.#isDown = false;
      this.#offer(tools);
    } catch (error) {
      this.#connection.reset();
      this.#staleAt = this.#ports.now() + RETRY_MS;
      const { code, message, hint }: CairnError = mcpError(this.id, error);
      // Reports once for each outage, because every use of the server retries.
      if (!this.#isDown) report({ level: 'warn', event: 'mcp.unavailable', facts: { server, code, message, hint } });
      this.#isDown = true;
      this.#offer([]);
    }
  }

  #offer(known: readonly KnownTool[]): void {
    if (known.length === 0 && this.#tools.length === 0) return;
    this.#tools = known.map((tool) => hostTool(this.#server, tool, this.#call));
    this.#ports.changed();
  }

  readonly #call = async (tool: KnownTool, input: JsonObject, context: HostToolContext): Promise<RemoteResult> => {
    try {
      return await this.#rounds({ tool, input }, context);
    } catch (error) {
      // A question ends the entry without an error.
      this.#held.end(context);
      throw error;
    }
  };

  async #rounds(asked: Asked, context: HostToolContext): Promise<RemoteResult> {
    const { runId } = context;
    const { answerTimeoutMs: answerMs } = this.#server;
    let answered: Answered | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // A request that an earlier entry made is not made again: it may have started something.
      const outcome = context.isReplayed ? nothing : await this.#next(asked, answered, context);
      if (outcome instanceof RemoteResult) return outcome;
      const needed = await context.step(`input ${round}`, () => inputNeeded(this.id, outcome, runId));
      const input = await answersTo(this.id, needed, { context, round, answerMs });
      // A fork shares the question of its source. The answer would go on with the call of the source, so it calls anew.
      answered = needed.runId === runId ? { input, isHeld: needed.isHeld === true } : undefined;
    }
    throw endlessQuestions(this.id);
  }

  /** Goes on with a call that its server holds open, or makes a request. */
  #next({ tool, input }: Asked, answered: Answered | undefined, context: HostToolContext): Promise<Outcome> {
    if (answered?.isHeld === true) return this.#held.answer(context, replyOf(answered.input));
    const waitMs = MAX_ROUNDS * this.#server.answerTimeoutMs;
    const hearsBudget = 'url' in this.#server && this.#ports.isKnownHost(this.#server.url);
    const called = { server: this.id, tool, input, answered: answered?.input, waitMs, hearsBudget };
    return this.#held.begin(context, (held) =>
      this.#slots.use(context.tenant, held.signal, (rest) => {
        // While a person answers, the server is idle.
        const elicit: HeldCall['elicit'] = (params) => rest(held.elicit(params));
        const calling = { context, origin: this.#ports, held: { progress: held.progress, elicit } };
        return this.#connection.exchange(held.signal, (open) => callTool(open, called, calling));
      }),
    );
  }

  /** Whether no call is under way. */
  get isIdle(): boolean {
    return this.#held.isEmpty;
  }

  /** A call has ended, whatever its server waits for. */
  ended(place: CallKey): void {
    this.#held.end(place);
  }

  /** Lists the tools again at the next use, but no more often than those of a failing server. */
  #toolsChanged(): void {
    this.#staleAt = Math.min(this.#staleAt, this.#listedAt + RETRY_MS);
  }

  close(): Promise<void> {
    this.#held.close();
    return this.#connection.close();
  }

  /** For the exit of the host's process, which cannot wait. */
  killNow(): void {
    if (this.#connection instanceof StdioConnection) this.#connection.killNow();
  }
}
