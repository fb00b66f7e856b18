/** One MCP server: its tools, listed when they are needed and kept for a while, and its calls, of which a few run at once. */
import type { CairnError, JsonObject } from '@cairn/protocol';
import type { InputRequiredResult } from '@modelcontextprotocol/client';
import { RemoteResult } from '../../agents/tools/remote-result.ts';
import type { HostToolContext, Tool } from '../../agents/tools/tool.ts';
import type { Report } from '../../engine/ports.ts';
import { CallSlots } from './call-slots.ts';
import { type CalledTool, type CallOrigin, callTool } from './call-tool.ts';
import { type Exchange, exchange, type KnownServer } from './exchange.ts';
import { type AnsweredInput, answersTo, endlessQuestions, inputNeeded, MAX_ROUNDS } from './input-needed.ts';
import { checkListing, hostTool, type KnownTool } from './listed-tools.ts';
import { mcpError } from './mcp-error.ts';
import type { McpServerSettings } from './server-settings.ts';

export interface McpPorts extends CallOrigin {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly report: Report;
  /** The tools of a server are others than before. */
  readonly changed: () => void;
}

/** How long a server that could not be listed is left alone. */
const RETRY_MS = 10_000;

/** A listing that takes longer has failed. */
const LIST_TIMEOUT_MS = 10_000;

/** Stands for a result whose record is used instead. */
const nothing: InputRequiredResult = { resultType: 'input_required' };

export class McpServer {
  readonly #server: McpServerSettings;
  readonly #ports: McpPorts;
  readonly #slots: CallSlots;
  /** What the last exchange found out. Forgotten when an exchange fails, because the server may be another one now. */
  #known: KnownServer | undefined;
  #tools: readonly Tool[] = [];
  #staleAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;
  #isDown = false;

  constructor(server: McpServerSettings, ports: McpPorts) {
    this.#server = server;
    this.#ports = ports;
    this.#slots = new CallSlots(server.maxCallsAtOnce);
  }

  get id(): string {
    return this.#server.id;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Whether its tools were asked for since the host started. */
  get isListed(): boolean {
    return this.#staleAt !== Number.NEGATIVE_INFINITY;
  }

  /** Lists the tools again if they are old. Never rejects. */
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
      const listed = await this.#exchange(AbortSignal.timeout(LIST_TIMEOUT_MS), ({ client, options }) =>
        client.listTools(undefined, options),
      );
      const { tools, refused } = await checkListing(this.#server, listed.tools);
      this.#staleAt = this.#ports.now() + this.#server.listEveryMs;
      if (refused.length > 0) report({ level: 'warn', event: 'mcp.tools_refused', facts: { server, refused } });
      if (this.#isDown) report({ level: 'info', event: 'mcp.recovered', facts: { server } });
      this.#isDown = false;
      this.#offer(tools);
    } catch (error) {
      this.#staleAt = this.#ports.now() + RETRY_MS;
      const { code, message }: CairnError = mcpError(this.id, error);
      // Once for each outage: every use of the server tries it again.
      if (!this.#isDown) report({ level: 'warn', event: 'mcp.unavailable', facts: { server, code, message } });
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
    let answered: AnsweredInput | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // A request that an earlier entry made is not made again: it may have started something.
      const result = context.isReplayed ? null : await this.#request({ tool, input, answered }, context);
      if (result instanceof RemoteResult) return result;
      const needed = await context.step(`input ${round}`, () => inputNeeded(this.id, result ?? nothing));
      answered = await answersTo(this.id, needed, { context, round });
    }
    throw endlessQuestions(this.id);
  };

  readonly #request = (called: CalledTool, context: HostToolContext) =>
    this.#slots.use(context.signal, () =>
      this.#exchange(context.signal, (open) => callTool(open, called, { context, origin: this.#ports })),
    );

  async #exchange<Result>(signal: AbortSignal, work: (open: Exchange) => Promise<Result>): Promise<Result> {
    const { fetch } = this.#ports;
    try {
      return await exchange(this.#server, { fetch, signal, known: this.#known }, (open) => {
        const discover = open.client.getDiscoverResult();
        this.#known = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
        return work(open);
      });
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }
}
