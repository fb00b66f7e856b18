/**
 * The performer of tool calls. It finds the tool, validates its arguments, runs it, and returns a recordable outcome.
 */
import { TOOL_PERFORMER } from '../../engine/performer-ids.ts';
import type { CallContext, Performer } from '../../engine/ports.ts';
import type { ToolEntryPorts } from './entry.ts';
import type { ToolCallInput, ToolOutcome } from './tool.ts';
import { ToolEntry } from './tool-entry.ts';
import { failed } from './tool-error.ts';
import type { ToolRegistry } from './tool-registry.ts';

export interface ToolPerformerPorts extends ToolEntryPorts {
  readonly registry: ToolRegistry;
  /**
   * Takes one call from the rate limit of a principal and tool. Returns the milliseconds to wait, 0 when the call may
   * proceed.
   */
  readonly takeCall: (tenant: string, principal: string | null, toolId: string) => number;
}

export const createToolPerformer = (ports: ToolPerformerPorts): Performer => ({
  typeId: TOOL_PERFORMER,
  // It depends on the tool whether it gets sensitive values.
  keepsSealed: true,
  run: async (input, context) => perform(input as ToolCallInput, context, ports),
});

function perform(
  asked: ToolCallInput,
  call: CallContext,
  ports: ToolPerformerPorts,
): ToolOutcome | Promise<ToolOutcome> {
  const { toolId, agentId, turnId, records, principal, reasoning = 'summary', budget } = asked;
  const tool = ports.registry.get(toolId);
  if (tool === undefined) return failed('tool_not_found', `This host has no tool ${JSON.stringify(toolId)}.`);
  // A tool of the host that sends nothing out would only store the values: in files and in memory.
  const checked = tool.check(tool.egress === 'none' ? asked.input : call.open(asked.input));
  if (!checked.ok) {
    const problems = checked.problems.join('; ');
    return failed('tool_invalid_arguments', `The arguments of ${toolId} do not fit: ${problems}.`);
  }
  // Only the first attempt counts against the limit: retries and resumed calls were admitted before.
  const isFirst = call.attempt === 1 && records.length === 0;
  const waitMs = isFirst ? ports.takeCall(call.tenant, principal, toolId) : 0;
  if (waitMs > 0) {
    return failed('rate_limited', `The tool ${toolId} may be called again in ${waitMs} ms.`, true);
  }
  const { timeoutMs = tool.timeoutMs } = asked;
  const limited = timeoutMs < tool.timeoutMs ? { ...tool, timeoutMs } : tool;
  return new ToolEntry({ tool: limited, agentId, turnId, principal, records, reasoning, budget, call }, ports).enter(
    checked.input,
  );
}
