/** The driver of a prompt node: that of a tool call if the node names one, else that of an agent. */
import type { NodeDriver } from '../../engine/workflow/node-type.ts';
import type { AgentConfig } from '../loop/agent-config.ts';
import { callsTool } from './tool-config.ts';

type Driver = NodeDriver<object, AgentConfig>;

export function eitherDriver(agent: Driver, tool: Driver): Driver {
  const by = ({ config }: { readonly config: AgentConfig }) => (callsTool(config) ? tool : agent);
  return {
    fresh: (node) => by(node).fresh(node),
    // The rows of tool calls are the same.
    runChange: (event) => agent.runChange?.(event) ?? null,
    ...(agent.recorded === undefined ? {} : { recorded: agent.recorded }),
    evolve: (inner, event, place) => ('ended' in inner ? tool : agent).evolve(inner, event, place),
    next: (context) => by(context).next(context),
    callInput: (context, call) => by(context).callInput(context, call),
    about: (context, call) => by(context).about?.(context, call) ?? {},
    returned: (context, call, result) => by(context).returned(context, call, result),
    again: (context, call) => by(context).again(context, call),
    answer: (context, interrupt, sent) => by(context).answer?.(context, interrupt, sent) ?? null,
    cancelled: (context, callId, cancel) => by(context).cancelled?.(context, callId, cancel) ?? null,
    stopped: (context) => by(context).stopped?.(context) ?? [],
    hasWritten: (inner) => ('ended' in inner ? tool : agent).hasWritten?.(inner) ?? false,
  };
}
