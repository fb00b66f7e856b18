/** Assembles the tools of a host: the offered tools, the configured permissions and the call performer. */
import { type RunView, TerminalError } from '@cairn/protocol';
import { ceilingOf, permitted, type ToolAccess } from '../../agents/allowlist.ts';
import { createBuiltinTools } from '../../agents/builtin-tools/builtin-tools.ts';
import type { FilePort } from '../../agents/builtin-tools/file-tools.ts';
import type { MemoryPort } from '../../agents/builtin-tools/memory-tools.ts';
import type { ArtifactPort } from '../../agents/tools/artifact-port.ts';
import type { LateResult } from '../../agents/tools/entry.ts';
import type { SignInPort } from '../../agents/tools/sign-in.ts';
import type { Tool } from '../../agents/tools/tool.ts';
import { createToolPerformer } from '../../agents/tools/tool-call.ts';
import { ToolRegistry } from '../../agents/tools/tool-registry.ts';
import type { Performer } from '../../engine/ports.ts';
import type { Store } from '../../log/ports/store.ts';
import type { CallTraces } from '../../telemetry/call-traces.ts';
import { A2aPeers } from '../a2a-client/a2a-peers.ts';
import { peerSettings } from '../a2a-client/peer-settings.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { sha256, systemTimers } from '../compose.ts';
import type { HostConfig } from '../config/config.ts';
import { publicDns } from '../egress/public-dns.ts';
import { createToolFetch } from '../egress/tool-fetch.ts';
import type { McpPorts } from '../mcp-client/mcp-server.ts';
import { McpServers } from '../mcp-client/mcp-servers.ts';
import { serverSettings } from '../mcp-client/server-settings.ts';
import { CallLimit } from './call-limit.ts';
import type { OfferedTools } from './tools.ts';

export interface HostTools extends OfferedTools {
  readonly performer: Performer;
  readonly mcp: McpServers;
  /** Decides which tools an agent with this allowlist may call in a run. */
  readonly access: (run: Readonly<RunView>, allowlist: readonly string[] | undefined) => ToolAccess;
  /** Offers these tools instead of those defined before. Refused tools change nothing. */
  readonly redefine: (tools: readonly Tool[]) => void;
}

export interface HostToolsPorts {
  /** Tools defined with `defineTool`. */
  readonly tools: readonly Tool[];
  readonly memory: MemoryPort;
  readonly signIns: SignInPort;
  readonly now: () => number;
  /** The trace context of outbound calls. */
  readonly traces: Pick<CallTraces, 'headers' | 'inCall'>;
  readonly artifacts: ArtifactPort;
  readonly files: FilePort;
  readonly lateResult: (call: LateResult) => void;
  readonly outbound: Omit<McpPorts, 'changed' | 'now'>;
  readonly store: Pick<Store, 'log' | 'changes' | 'subscriptions'>;
  readonly cluster: Pick<ClusterNode, 'job'>;
}

export function createHostTools(
  config: Pick<HostConfig, 'tools' | 'secrets' | 'mcp' | 'a2a'>,
  ports: HostToolsPorts,
): HostTools {
  const { now, traces } = ports;
  const { tools: settings, secrets } = config;
  const http = createToolFetch(settings.http.allow, { resolve: publicDns, timers: systemTimers, now, traces });
  const builtin = createBuiltinTools({ now, files: ports.files, memory: ports.memory, http });
  const registry = new ToolRegistry(builtin);
  let defined: readonly Tool[] = [];
  const { store, cluster } = ports;
  const peerPorts = { ...ports.outbound, now, sha256, after: systemTimers.after, store, cluster, traces };
  const peers = new A2aPeers(peerSettings(config), peerPorts);
  const offer = (tools: readonly Tool[]): void =>
    registry.replace([...builtin, ...tools, ...peers.tools, ...mcp.tools]);
  const mcp = new McpServers(serverSettings(config), { ...ports.outbound, now, changed: () => offer(defined) });
  const redefine = (tools: readonly Tool[]): void => {
    refuseMissingSecrets(tools, secrets);
    offer(tools);
    defined = tools;
  };
  redefine(ports.tools);
  const policy = { allow: settings.allow, tenants: settings.tenants };
  const calls = new CallLimit(settings.maxCallsPerMinute, now);
  const performer = createToolPerformer({
    registry,
    now,
    after: systemTimers.after,
    secret: (_tenant, name) => secrets.get(name)?.reveal(),
    artifacts: ports.artifacts,
    signIns: ports.signIns,
    lateResult: ports.lateResult,
    takeCall: (tenant, principal, toolId) => calls.take(tenant, principal, toolId),
  });
  const listed = () => mcp.listed();
  let unfollow = (): void => {};
  const open = (): Promise<void> => {
    if (config.mcp.servers.length > 0) unfollow = ports.store.log.follow((commit) => mcp.saw(commit), mcp.interest);
    return peers.open();
  };
  const close = async (): Promise<void> => {
    unfollow();
    await Promise.all([peers.close(), mcp.close()]);
  };
  return {
    registry,
    policy,
    performer,
    calls,
    access: accessOf({ registry, policy }),
    redefine,
    mcp,
    listed,
    open,
    close,
  };
}

/** Access of the tenant that owns the run. An unknown run gets no tool that requires anything. */
const accessOf =
  ({ registry, policy }: Pick<OfferedTools, 'registry' | 'policy'>): HostTools['access'] =>
  ({ owner, configurable, toolScopes }, allowlist) => ({
    registry,
    policy: permitted(policy, registry, owner?.tenant ?? ''),
    allowlist,
    ceiling: ceilingOf(configurable),
    scopes: toolScopes ?? undefined,
  });

/** Fails at start instead of at an agent's first call of the tool. */
function refuseMissingSecrets(tools: readonly Tool[], secrets: HostConfig['secrets']): void {
  for (const { id, secrets: wanted } of tools) {
    const missing = wanted.find((name) => !secrets.has(name));
    if (missing === undefined) continue;
    throw new TerminalError('config_invalid', {
      message: `The tool ${id} needs the secret ${JSON.stringify(missing)}, which the configuration does not have.`,
      hint: `Add "secrets": { ${JSON.stringify(missing)}: { "env": "…" } }.`,
    });
  }
}
