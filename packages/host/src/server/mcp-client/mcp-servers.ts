/** The MCP servers of a host: their tools, and when they are listed. */
import type { PayloadOf } from '@cairn/protocol';
import type { NamedServers } from '../../agents/loop/loop-options.ts';
import type { Tool } from '../../agents/tools/tool.ts';
import { MAX_MCP_TOOL_ID, MCP_SCOPE, mcpToolIdPattern } from '../../agents/tools/tool-registry.ts';
import type { AgentSource, Performer } from '../../engine/ports.ts';
import type { Commit, Interest } from '../../log/ports/event-log.ts';
import { type McpPorts, McpServer } from './mcp-server.ts';
import type { McpServerSettings } from './server-settings.ts';

/** How long a new run waits for tools that are not known yet. The host never waits for them to start. */
const WAIT_MS = 3_000;

/** Every tool call of the host passes, so the payload is only searched. */
const ofServer = `"toolId":"${MCP_SCOPE}`;

const END_OF_CALL = 'agent.toolReturned';

export class McpServers {
  readonly #servers: readonly McpServer[];

  constructor(servers: readonly McpServerSettings[], ports: McpPorts) {
    this.#servers = servers.map((server) => new McpServer(server, ports));
    if (servers.length > 0) process.once('exit', this.#killAll);
  }

  /** A host that ends without closing leaves no process behind. */
  readonly #killAll = (): void => {
    for (const server of this.#servers) server.killNow();
  };

  /** Of what `saw` is to be told. */
  readonly interest: Interest = { types: () => [END_OF_CALL] };

  /** Ends calls whose servers wait for an answer that will not come: the run was cancelled, for example. */
  saw({ runId, rows }: Pick<Commit, 'runId' | 'rows'>): void {
    if (this.#servers.every(({ isIdle }) => isIdle)) return;
    for (const row of rows) {
      if (row.type !== END_OF_CALL || !row.payload.includes(ofServer)) continue;
      const { callId }: PayloadOf<typeof END_OF_CALL> = JSON.parse(row.payload);
      for (const server of this.#servers) server.ended({ runId, callId });
    }
  }

  async close(): Promise<void> {
    process.off('exit', this.#killAll);
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  /** For nodes that name a server, or none. */
  readonly named: NamedServers = {
    serverOf: () => (this.#servers.length === 1 ? (this.#servers[0]?.id ?? null) : null),
    serverCount: () => this.#servers.length,
    unlisted: (toolId) =>
      mcpToolIdPattern.test(toolId) && toolId.length <= MAX_MCP_TOOL_ID
        ? this.#servers.find(({ id }) => toolId.startsWith(`${MCP_SCOPE}${id}/`))?.unlisted(toolId)
        : undefined,
  };

  get tools(): readonly Tool[] {
    return this.#servers.flatMap(({ tools }) => tools);
  }

  /** Resolves when the tools that lines of allowlists name are known, or soon if they are not. */
  async listed(lines: readonly string[] = ['*']): Promise<void> {
    const named = this.#servers.filter(({ id }) => lines.some((line) => names(line, `${MCP_SCOPE}${id}/`)));
    if (named.length > 0) await within(Promise.all(named.map((server) => server.refresh())));
  }

  /** An agent source whose new runs know the tools that their agents list. */
  listing(source: AgentSource): AgentSource {
    if (this.#servers.length === 0) return source;
    return {
      ...source,
      pin: async (...asked) => {
        const pins = await source.pin(...asked);
        for (const { hash } of Object.values(pins)) {
          const { manifest } = await source.definition(hash);
          await this.listed(manifest.toolAllowlist ?? []);
        }
        return pins;
      },
    };
  }

  /** The performer of model turns, which has old lists made anew for the decisions that follow. A replay has no turns. */
  refreshing(performer: Performer): Performer {
    if (this.#servers.length === 0) return performer;
    return {
      ...performer,
      run: (input, context) => {
        for (const server of this.#servers) void server.refresh();
        return performer.run(input, context);
      },
    };
  }

  /** The performer of tool calls, which finds tools that were not listed when the call was decided. */
  finding(performer: Performer): Performer {
    if (this.#servers.length === 0) return performer;
    return {
      ...performer,
      run: async (input, context) => {
        const line = String(input.toolId);
        const isUnknown = (server: McpServer) =>
          names(line, `${MCP_SCOPE}${server.id}/`) && !server.tools.some(({ id }) => id === line);
        const unknown = this.#servers.filter(isUnknown);
        if (unknown.length > 0) await within(Promise.all(unknown.map((server) => server.refresh())));
        return performer.run(input, context);
      },
    };
  }
}

/** Whether a line may allow a tool of the server. */
const names = (line: string, prefix: string): boolean =>
  line.endsWith('*') ? prefix.startsWith(line.slice(0, -1)) || line.startsWith(prefix) : line.startsWith(prefix);

async function within(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, WAIT_MS);
  await Promise.race([work, late.promise]);
  clearTimeout(timer);
}
