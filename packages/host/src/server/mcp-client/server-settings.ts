/** One MCP server of the configuration, with the values of its headers. */
import type { HostConfig } from '../config/config.ts';
import { resolveHeaders } from '../config/secrets.ts';
import type { SecretText } from '../secrets/secret-text.ts';

export interface McpServerSettings extends Omit<HostConfig['mcp']['servers'][number], 'headers'> {
  readonly headers: Readonly<Record<string, SecretText>>;
}

export const serverSettings = ({ mcp, secrets }: Pick<HostConfig, 'mcp' | 'secrets'>): readonly McpServerSettings[] =>
  mcp.servers.map((server) => ({ ...server, headers: resolveHeaders(server.headers, secrets) }));
