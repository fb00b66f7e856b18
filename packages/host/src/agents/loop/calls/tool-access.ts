/** The tools that an agent of a node may use: those of the host, and those of the client that the node names. */
import type { ConfiguredNode, NewRunFacts } from '../../../engine/workflow/node-type.ts';
import { listsTool, type ToolAccess } from '../../allowlist.ts';
import { clientToolsOf, withClientTools } from '../../tools/client-tools.ts';
import { loopTools } from '../../tools/tool-registry.ts';
import type { AgentConfig, AgentContext } from '../agent-config.ts';
import type { LoopOptions } from '../loop-options.ts';

export function accessIn(
  { config, state }: Pick<AgentContext, 'config' | 'state'>,
  allowlist: readonly string[] | undefined,
  options: LoopOptions,
): ToolAccess {
  const access = options.toolAccess(state.view, allowlist);
  const offered = clientToolsOf(config);
  return offered === null ? access : { ...access, registry: withClientTools(access.registry, offered) };
}

/** Refuses a tool that neither the agent may call nor a colleague that it may hand off to. */
export function clientToolProblems(
  { node, config }: ConfiguredNode<AgentConfig>,
  { agents }: NewRunFacts,
): readonly string[] {
  const offered = clientToolsOf(config);
  if (offered === null) return [];
  const { agentId = 'the agent' } = node.agent ?? {};
  const listOf = (id: string) => agents.get(id)?.manifest.toolAllowlist ?? [];
  const mayHandOff = listsTool(listOf(agentId), loopTools.handoff);
  const lists = mayHandOff ? [...agents.keys()].map(listOf) : [listOf(agentId)];
  return offered.tools
    .filter(({ id }) => !lists.some((list) => listsTool(list, id)))
    .map(({ id }) => `${agentId} does not allow ${id}: its toolAllowlist needs "${id}" or "client:*"`);
}
