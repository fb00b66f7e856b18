/** Tools that agents of the host's code name and that are not there: mostly a typo, which leaves the agent without its tool. */
import type { DefinedAgent } from '../../agents/define-agent.ts';
import type { ToolRegistry } from '../../agents/tools/tool-registry.ts';
import type { Report } from '../../engine/ports.ts';
import { nearest } from '../../nearest.ts';

/** Tools that come and go with servers, peers and clients. */
const PASSING = ['mcp:', 'a2a:', 'client:', 'connector:'];

export function reportMissingTools(
  agents: readonly Pick<DefinedAgent, 'agentId' | 'definition'>[],
  registry: Pick<ToolRegistry, 'get' | 'all'>,
  report: Report,
): void {
  const ids = registry.all.map(({ id }) => id);
  for (const { agentId, definition } of agents) {
    for (const toolId of definition.manifest.toolAllowlist ?? []) {
      const isOpen = toolId.endsWith('*') || PASSING.some((scope) => toolId.startsWith(scope));
      if (isOpen || registry.get(toolId) !== undefined) continue;
      const meant = nearest(toolId, ids);
      const facts = meant === null ? { agentId, toolId } : { agentId, toolId, meant };
      report({ level: 'warn', event: 'agent.tool_missing', facts });
    }
  }
}
