/** Reads a turn's calls to the loop's own tools: what they state, and why the loop refuses one. */
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import type { ModelToolCall, Turn } from '../models/turn.ts';
import { loopTools } from '../tools/tool-registry.ts';
import { type Agent, agentOf } from './agent.ts';
import {
  type HandedOn,
  loopToolCalled,
  mayDecide,
  mayHandOff,
  readDecision,
  readHandoff,
  type StatedDecision,
} from './loop-tools.ts';
import type { FailedTool } from './rows.ts';
import { taskProblems } from './task.ts';
import { malformed, type Refused, refusal } from './tool-calls.ts';

/** The first decision and the first handoff of a turn, and the loop calls that are refused. */
export interface Statements {
  readonly decided: StatedDecision | null;
  readonly handedOn: HandedOn | null;
  readonly refused: readonly Refused[];
}

export function statementsOf(context: NodeContext, turn: Turn, agent: Agent): Statements {
  let decided: StatedDecision | null = null;
  let handedOn: HandedOn | null = null;
  const refused: Refused[] = [];
  for (const [index, call] of turn.toolCalls.entries()) {
    const toolId = loopToolCalled(call.name);
    if (toolId === null || malformed(turn, index) !== null) continue;
    const isDecision = toolId === loopTools.decide;
    const isTaken = (isDecision ? decided : handedOn) !== null;
    const read = isTaken ? 'only one of these in a turn counts' : readCall(context, agent, call, isDecision);
    if (typeof read === 'string') refused.push({ index, toolId, input: call.input, end: whyNot(toolId, agent, read) });
    else if (isDecision) decided = read as StatedDecision;
    else handedOn = read as HandedOn;
  }
  return { decided, handedOn, refused };
}

function readCall(context: NodeContext, agent: Agent, call: ModelToolCall, isDecision: boolean) {
  if (!(isDecision ? mayDecide(agent) : mayHandOff(agent))) return NOT_OFFERED;
  if (call.invalid !== undefined) return call.invalid;
  if (isDecision) return readDecision(call.input);
  const handed = readHandoff(call.input, agent);
  if (typeof handed === 'string') return handed;
  const task = { ...handed.task, message: handed.message };
  const problems = taskProblems(agentOf(context, handed.agentId), task);
  return problems.length === 0 ? handed : `${handed.agentId} takes another task: ${problems.join('; ')}`;
}

const NOT_OFFERED = 'not offered';

function whyNot(toolId: string, { agentId, allowlist }: Agent, why: string): FailedTool {
  if (why !== NOT_OFFERED) return refusal('tool_invalid_arguments', `The arguments of ${toolId} are wrong: ${why}.`);
  const rule =
    allowlist === undefined
      ? 'toolAllowlist is missing'
      : `toolAllowlist has no line for ${toolId}, or there is nobody to hand to`;
  const message = `${agentId} may not use ${toolId}: ${rule}.`;
  const details = { scope: 'tool', toolName: toolId, requiredScopes: [], rule };
  return { error: { code: 'forbidden', message, retryable: false, details }, status: 'forbidden' };
}
