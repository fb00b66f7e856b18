/** Checks the agents that a definition names. What it says of them is a request: a run states what the registry knows. */
import { agentIdProblem, type WorkflowNode } from '@cairn/protocol';
import type { Problem } from './node-type.ts';

/** The paths of the problems start at the node. */
export function agentProblems({ agent }: WorkflowNode): readonly Problem[] {
  if (agent === undefined) return [];
  const problem = agentIdProblem(agent.agentId);
  return [
    ...(problem === null ? [] : [{ path: ['agent', 'agentId'], message: `${agent.agentId} ${problem}` }]),
    ...(agent.channel === undefined
      ? []
      : [{ path: ['agent', 'channel'], message: 'needs agent deployments, which this host does not offer' }]),
  ];
}
