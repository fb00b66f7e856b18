/** The driver of a prompt node: that of a tool call if the node names one, else that of an agent. */
import type { WorkflowNode } from '@cairn/protocol';
import type { DrivenContext, NodeDriver } from '../../engine/workflow/node-type.ts';
import { callsTool } from './tool-node.ts';

export function eitherDriver(agent: NodeDriver, tool: NodeDriver): NodeDriver {
  const of = (node: WorkflowNode) => (callsTool(node) ? tool : agent);
  const by = ({ node }: DrivenContext) => of(node);
  return {
    fresh: (node) => of(node).fresh(node),
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
