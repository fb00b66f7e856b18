/** One MCP server of the configuration, with the values of its headers or of its environment. */
import type { HostConfig } from '../config/config.ts';
import { resolveHeaders } from '../config/secrets.ts';
import type { SecretText } from '../secrets/secret-text.ts';

type Configured = HostConfig['mcp']['servers'][number];

/** The settings of every server, over any transport. */
type ServerLimits = Omit<Configured, 'url' | 'headers' | 'command' | 'args' | 'env' | 'cwd'>;

/** A server over streamable HTTP. */
export interface HttpServerSettings extends ServerLimits {
  readonly url: string;
  readonly headers: Readonly<Record<string, SecretText>>;
}

/** A program that the host starts and talks to over standard input and output. */
export interface StdioServerSettings extends ServerLimits {
  readonly command: string;
  readonly args: readonly string[];
  /** Its environment, besides a few variables of the host. */
  readonly env: Readonly<Record<string, SecretText>>;
  readonly cwd: string | undefined;
}

export type McpServerSettings = HttpServerSettings | StdioServerSettings;

export const serverSettings = ({ mcp, secrets }: Pick<HostConfig, 'mcp' | 'secrets'>): readonly McpServerSettings[] =>
  mcp.servers.map(({ url, headers, command, args, env, cwd, ...limits }): McpServerSettings => {
    if (command !== undefined) return { ...limits, command, args, env: resolveHeaders(env, secrets), cwd };
    // The configuration refuses a server with neither.
    return { ...limits, url: url ?? '', headers: resolveHeaders(headers, secrets) };
  });
