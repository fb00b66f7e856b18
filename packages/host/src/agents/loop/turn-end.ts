/** Acts on a completed model turn: writes its rows, makes its calls, and concludes the invocation. */
import type { Json } from '@cairn/protocol';
import type { Draft, RunError } from '../../engine/core/state.ts';
import type { NodeAction } from '../../engine/workflow/node-type.ts';
import type { Turn } from '../models/turn.ts';
import type { Agent } from './agent.ts';
import { toolBreach } from './budgets.ts';
import { type Statements, statementsOf } from './calls/loop-calls.ts';
import { type HandedOn, loopToolCalled, type StatedDecision } from './calls/loop-tools.ts';
import { accessIn } from './calls/tool-access.ts';
import { type Allowed, callRows, judgeCall, malformed, malformedCall, type Refused } from './calls/tool-calls.ts';
import { escalation } from './escalation.ts';
import { modelAnswered, toolsReturned } from './internal-events.ts';
import { askNext, endBadly, endByBreach, finish, handOn, type LoopStep, repair } from './invocation-end.ts';
import { decidedRow, lastChunkRow, reasonedRow, usageRow } from './rows.ts';
import { verbosityOf } from './settings.ts';
import { callsOf, type JudgedStage } from './state/loop-state.ts';
import { inWords, parsedResult } from './task.ts';
import type { Verdict } from './verdict.ts';

/** Acts on the model's answer. */
export function actOnTurn(begun: LoopStep, turn: Turn): NodeAction {
  const step: LoopStep = { ...begun, rows: turnRows(begun, turn) };
  const { context, agent, options } = step;
  const nodeId = context.node.id;
  if (turn.finish === 'content_filter') return endBadly(step, refusedError(nodeId, turn), 'refused');
  if (turn.finish === 'error') return endBadly(step, brokenOff(nodeId, turn));
  const statements = statementsOf(context, turn, agent);
  const calls = callsIn(step, turn, statements);
  const watched = modelAnswered(
    context,
    turn,
    calls.map(({ toolId }) => toolId),
  );
  const rows = watched.length === 0 ? step.rows : [...step.rows, ...watched];
  if (calls.length === 0) return conclude({ ...step, rows }, turn, statements);
  const breach = toolBreach(context, context.inner, calls.length);
  if (breach !== null) return endByBreach(step, breach);
  const { drafts, effects } = callRows(context, agent, calls, { before: rows.length, options });
  return { kind: 'wait', drafts: [...rows, ...drafts], effects };
}

/** Continues when all calls of the turn have returned. */
export const afterCalls = (step: LoopStep, turn: Turn): NodeAction =>
  conclude(
    { ...step, rows: [...step.rows, ...toolsReturned(step.context, callsOf(step.invocation))] },
    turn,
    statementsOf(step.context, turn, step.agent),
  );

/** Rows for usage, the complete reasoning, and the end of the streamed text. */
function turnRows({ context, invocation, options }: LoopStep, turn: Turn): Draft[] {
  const nodeId = context.node.id;
  const verbosity = verbosityOf(context, options);
  const { stream, agentId } = invocation;
  const rows: Draft[] = [usageRow(nodeId, turn)];
  // The first turn always writes the row, so that readers learn when there is no reasoning.
  if (verbosity !== 'off' && (turn.reasoning !== '' || stream.deltas > 0 || invocation.turns === 1)) {
    rows.push(reasonedRow(nodeId, agentId, turn.reasoning, { verbosity, tokenLimit: options.reasoningTokenLimit }));
  }
  if (turn.chunks > 0 || turn.tail !== '') {
    rows.push(lastChunkRow(nodeId, context.runId, stream.channel ?? `${invocation.id}/text`, turn));
  }
  return rows;
}

/** The calls of a turn that get rows, in the model's order. */
function callsIn({ context, agent, options }: LoopStep, turn: Turn, { refused }: Statements): (Allowed | Refused)[] {
  const access = accessIn(context, agent.allowlist, options);
  const calls: (Allowed | Refused)[] = [...refused];
  for (const [index, call] of turn.toolCalls.entries()) {
    const wrong = malformed(turn, index);
    if (wrong !== null) {
      calls.push(malformedCall(access, call, index, wrong));
    } else if (loopToolCalled(call.name) === null) {
      calls.push(judgeCall(access, call, index));
    }
  }
  return calls.sort((a, b) => a.index - b.index);
}

/** A decision, a handoff or an answer ends the invocation; otherwise the model gets another turn. */
function conclude(step: LoopStep, turn: Turn, statements: Statements): NodeAction {
  const { agent } = step;
  const { text, toolCalls } = turn;
  const { decided, handedOn, isConfidenceRefused } = statements;
  if (decided !== null) {
    const problems = handedOn === null ? decisionProblems(agent, decided) : [];
    return problems.length > 0
      ? repair(step, problems)
      : decide(step, turn, { decided: owned(step, decided), handedOn });
  }
  // Not even a handoff in the same turn goes ahead: the decision about it may be one to hold.
  if (isConfidenceRefused) return askNext(step, { confidenceRefused: true });
  if (handedOn !== null) return handOn(step, handedOn, [handoffDecision(step, handedOn)]);
  if (toolCalls.length > 0) return askNext(step);
  if (agent.returnSchema === undefined) return answer(step, turn, text);
  const parsed = parsedResult(text, agent.returnSchema);
  return 'problems' in parsed ? repair(step, parsed.problems) : answer(step, turn, parsed.value);
}

/** A plain answer counts as a decision without a confidence. */
function answer(step: LoopStep, turn: Turn, decision: Json): NodeAction {
  const decided = owned(step, { decision, confidence: undefined, reasoning: undefined });
  if (decided.confidence !== undefined) return decide(step, turn, { decided, handedOn: null });
  const row = decidedRow(step.context.node.id, step.agent.agentId, decided);
  return finish(step, { turn, decision, rows: [row] });
}

/** Once a confidence was refused, leaving it out is no way around the review: it then counts as stated and invalid. */
const owned = ({ invocation }: LoopStep, decided: StatedDecision): StatedDecision =>
  decided.confidence === undefined && (invocation.confidenceRefusals ?? 0) > 0
    ? { ...decided, confidence: null }
    : decided;

function decisionProblems({ returnSchema }: Agent, { decision }: StatedDecision): readonly string[] {
  if (returnSchema === undefined) return [];
  const parsed = parsedResult(JSON.stringify(decision), returnSchema);
  return 'problems' in parsed ? parsed.problems : [];
}

const handoffDecision = ({ context, agent }: LoopStep, { agentId, reason }: HandedOn): Draft =>
  decidedRow(context.node.id, agent.agentId, {
    decision: { kind: 'handoff', toAgentId: agentId },
    confidence: undefined,
    reasoning: reason,
  });

/** A decision, with an optional handoff in the same turn. */
interface Stated {
  readonly decided: StatedDecision;
  readonly handedOn: HandedOn | null;
}

function decide(step: LoopStep, turn: Turn, { decided, handedOn }: Stated): NodeAction {
  const { context, agent, options } = step;
  const { agentId, defaultThreshold, returnSchema } = agent;
  const row = decidedRow(context.node.id, agentId, decided);
  const held = escalation(context, { ...decided, agentId, defaultThreshold, returnSchema }, options);
  if (held.action === 'ask') return { kind: 'wait', drafts: [...step.rows, row, ...held.drafts] };
  const rows = held.action === 'suppressed' ? [row, ...held.drafts] : [row];
  if (handedOn !== null) return handOn(step, handedOn, rows);
  return finish(step, { turn, decision: decided.decision, stated: decided, rows });
}

/** Acts on the human verdict about a held decision. */
export function actOnVerdict(step: LoopStep, { turn, verdict }: JudgedStage): NodeAction {
  const { context, agent } = step;
  if (verdict.action === 'reject') {
    return verdict.isFinal
      ? endBadly(step, rejected(context.node.id, verdict))
      : askNext(step, { note: rejection(verdict) });
  }
  const { decided, handedOn } = statementsOf(context, turn, agent);
  if (handedOn !== null) return handOn(step, edited(handedOn, verdict), []);
  return finish(step, {
    // The edit replaces a plain answer: its text was the decision.
    turn: decided === null && verdict.action === 'edit' ? { ...turn, text: '' } : turn,
    decision: verdict.decision,
    ...(decided === null ? {} : { stated: decided }),
    rows: [],
    outcome: 'escalated',
  });
}

/** Adds the human's edit of the decision to the handoff message. */
function edited(handedOn: HandedOn, { action, decision }: Exclude<Verdict, { action: 'reject' }>): HandedOn {
  if (action === 'approve') return handedOn;
  return { ...handedOn, message: `${handedOn.message}\n\nA person changed the decision to: ${inWords(decision)}` };
}

const rejection = ({ feedback }: Extract<Verdict, { action: 'reject' }>): string =>
  feedback === null
    ? 'A person rejected your decision without a word. Decide again, or say what you would need to know.'
    : `A person rejected your decision: ${feedback}`;

const refusedError = (nodeId: string, { provider, model, text }: Turn): RunError => ({
  code: 'model_refused',
  message: `${provider}/${model} refused to answer node ${nodeId}${text === '' ? '.' : `: ${JSON.stringify(text.slice(0, 300))}`}`,
  details: { provider, model },
  retryable: false,
});

const brokenOff = (nodeId: string, { provider, model }: Turn): RunError => ({
  code: 'model_call_failed',
  message: `${provider}/${model} broke off its answer to node ${nodeId}.`,
  details: { provider, model },
  retryable: true,
});

const rejected = (nodeId: string, verdict: Extract<Verdict, { action: 'reject' }>): RunError => ({
  code: verdict.timedOut ? 'interrupt_timeout' : 'decision_rejected',
  message: verdict.timedOut
    ? `Nobody looked at the decision of node ${nodeId} in time.`
    : `The decision of node ${nodeId} was rejected for good${verdict.feedback === null ? '.' : `: ${JSON.stringify(verdict.feedback.slice(0, 500))}`}`,
  retryable: false,
});
