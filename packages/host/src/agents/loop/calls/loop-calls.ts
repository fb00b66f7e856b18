/** Reads a turn's calls to the loop's own tools: what they state, and why the loop refuses one. */
import type { ModelToolCall, Turn } from '../../models/turn.ts';
import { loopTools } from '../../tools/tool-registry.ts';
import { type Agent, agentOf } from '../agent.ts';
import type { LoopContext } from '../agent-config.ts';
import type { FailedTool } from '../rows.ts';
import { openInvocation } from '../state/loop-state.ts';
import { taskProblems } from '../task.ts';
import {
  confidenceProblem,
  type HandedOn,
  loopToolCalled,
  mayDecide,
  mayHandOff,
  readDecision,
  readHandoff,
  type StatedDecision,
} from './loop-tools.ts';
import { malformed, type Refused, refusal } from './tool-calls.ts';

/** The first decision and the first handoff of a turn, and the loop calls that are refused. */
export interface Statements {
  readonly decided: StatedDecision | null;
  readonly handedOn: HandedOn | null;
  readonly refused: readonly Refused[];
  /** A decision is refused because of its confidence. A second one is taken as it is, and held. */
  readonly isConfidenceRefused: boolean;
}

export function statementsOf(context: LoopContext, turn: Turn, agent: Agent): Statements {
  const decisions: StatedDecision[] = [];
  const handoffs: HandedOn[] = [];
  const refused: Refused[] = [];
  let isConfidenceRefused = false;
  const mayRefuse = (openInvocation(context.inner).confidenceRefusals ?? 0) === 0;
  for (const [index, call] of turn.toolCalls.entries()) {
    const toolId = loopToolCalled(call.name);
    if (toolId === null || malformed(turn, index) !== null) continue;
    const isDecision = toolId === loopTools.decide;
    const isTaken = (isDecision ? decisions : handoffs).length > 0;
    const read = isTaken ? 'only one of these in a turn counts' : readCall(context, agent, call, isDecision);
    const problem = mayRefuse && typeof read === 'object' && 'decision' in read ? confidenceProblem(read) : null;
    if (problem !== null) isConfidenceRefused = true;
    const taken = problem ?? read;
    if (typeof taken === 'string')
      refused.push({ index, toolId, input: call.input, end: whyNot(toolId, agent, taken) });
    else if ('decision' in taken) decisions.push(taken);
    else handoffs.push(taken);
  }
  return { decided: decisions[0] ?? null, handedOn: handoffs[0] ?? null, refused, isConfidenceRefused };
}

function readCall(
  context: LoopContext,
  agent: Agent,
  call: ModelToolCall,
  isDecision: boolean,
): StatedDecision | HandedOn | string {
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
