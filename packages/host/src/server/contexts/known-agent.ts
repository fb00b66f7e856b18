/** The agent in the path of an endpoint for front ends. */
import { agentIdProblem, TerminalError } from '@cairn/protocol';
import type { AgentRegistry } from '../../agents/registry.ts';
import { type Call, pathParam } from '../http/routes.ts';
import { thereIsNo } from '../http/unknown-id.ts';

export async function knownAgent(call: Call, registry: Pick<AgentRegistry, 'agents'>): Promise<string> {
  const agentId = pathParam(call, 'agentId');
  const agents = await registry.agents(call.caller.tenant);
  if (agents.some((agent) => agent.agentId === agentId)) return agentId;
  throw new TerminalError('not_found', {
    message: thereIsNo('agent', agentId, agentIdProblem(agentId) === null),
    hint: 'GET /v1/agents lists those of the tenant.',
  });
}
