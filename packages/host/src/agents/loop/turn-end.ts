/** What follows from a turn of the model: its rows, its calls, and the end of the invocation when it is the last. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Draft, RunError } from '../../engine/core/state.ts';
import type { DrivenContext, NodeAction } from '../../engine/workflow/node-type.ts';
import type { Turn } from '../models/turn.ts';
import { type Agent, agentOf } from './agent.ts';
import { type Breach, breachError, breachRow, toolBreach, turnBreach } from './budgets.ts';
import { escalation } from './escalation.ts';
import { type Statements, statementsOf } from './loop-calls.ts';
import type { LoopOptions } from './loop-options.ts';
import type { Invocation, LoopState } from './loop-state.ts';
import { type HandedOn, loopToolCalled, type StatedDecision } from './loop-tools.ts';
import { askModel } from './model-calls.ts';
import {
  decidedRow,
  handoffRow,
  type InvocationOutcome,
  invocationCompletedRow,
  lastChunkRow,
  reasonedRow,
  usageRow,
  validConfidence,
} from './rows.ts';
import { verbosityOf } from './settings.ts';
import { exceeds, MAX_ROW_BYTES, MAX_SAID_CHARACTERS } from './sizes.ts';
import { inWords, parsedResult } from './task.ts';
import { type Allowed, callRows, judgeCall, malformed, malformedCall, type Refused } from './tool-calls.ts';
import type { Verdict } from './verdict.ts';

/** An invocation at the end of a turn. */
interface Here {
  readonly context: DrivenContext<LoopState>;
  readonly invocation: Invocation;
  readonly agent: Agent;
  readonly options: LoopOptions;
  /** Rows of this decision that come first. */
  readonly rows: readonly Draft[];
}

/** The model has answered. */
export function actOnTurn(context: DrivenContext<LoopState>, invocation: Invocation, options: LoopOptions): NodeAction {
  const turn = invocation.turn as Turn;
  const agent = agentOf(context, invocation.agentId);
  const here: Here = { context, invocation, agent, options, rows: turnRows(context, invocation, turn, options) };
  const nodeId = context.node.id;
  if (turn.finish === 'content_filter') return endBadly(here, refusedError(nodeId, turn), 'refused');
  if (turn.finish === 'error') return endBadly(here, brokenOff(nodeId, turn));
  const statements = statementsOf(context, turn, agent);
  const calls = callsOf(here, turn, statements);
  if (calls.length === 0) return conclude(here, statements);
  const breach = toolBreach(context, context.inner, calls.length);
  if (breach !== null) return endByBreach(here, breach);
  const { drafts, effects } = callRows(context, agent, calls, { before: here.rows.length, options });
  return { kind: 'wait', drafts: [...here.rows, ...drafts], effects };
}

/** All calls of the turn have returned. */
export function afterCalls(
  context: DrivenContext<LoopState>,
  invocation: Invocation,
  options: LoopOptions,
): NodeAction {
  const agent = agentOf(context, invocation.agentId);
  const here: Here = { context, invocation, agent, options, rows: [] };
  return conclude(here, statementsOf(context, invocation.turn as Turn, agent));
}

/** Usage, the whole of what was reasoned, the end of what was said. */
function turnRows(
  context: DrivenContext<LoopState>,
  invocation: Invocation,
  turn: Turn,
  options: LoopOptions,
): Draft[] {
  const nodeId = context.node.id;
  const verbosity = verbosityOf(context, options);
  const { stream, agentId } = invocation;
  const rows = [usageRow(nodeId, turn)];
  // Whoever waits for an agent's reasons hears once that it gave none.
  if (verbosity !== 'off' && (turn.reasoning !== '' || stream.deltas > 0 || invocation.turns === 1)) {
    rows.push(reasonedRow(nodeId, agentId, turn.reasoning, { verbosity, tokenLimit: options.reasoningTokenLimit }));
  }
  if (turn.chunks > 0 || turn.tail !== '') {
    rows.push(lastChunkRow(nodeId, context.runId, stream.channel ?? `${invocation.id}/text`, turn));
  }
  return rows;
}

/** Those calls of a turn that get rows, in the order of the model. */
function callsOf({ context, agent, options }: Here, turn: Turn, { refused }: Statements): (Allowed | Refused)[] {
  const access = options.toolAccess(context.state.view, agent.allowlist);
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

/** A decision, a handoff or an answer ends the invocation; else the model goes on. */
function conclude(here: Here, { decided, handedOn }: Statements): NodeAction {
  const { invocation, agent } = here;
  const { text, toolCalls } = invocation.turn as Turn;
  if (decided !== null) {
    const problems = handedOn === null ? decisionProblems(agent, decided) : [];
    return problems.length > 0 ? repair(here, problems) : decide(here, decided, handedOn);
  }
  if (handedOn !== null) return handOn(here, handedOn, [handoffDecision(here, handedOn)]);
  if (toolCalls.length > 0) return askNext(here);
  if (agent.returnSchema === undefined) return finish(here, { decision: text, rows: [answerRow(here, text)] });
  const parsed = parsedResult(text, agent.returnSchema);
  if ('problems' in parsed) return repair(here, parsed.problems);
  return finish(here, { decision: parsed.value, rows: [answerRow(here, parsed.value)] });
}

function decisionProblems({ returnSchema }: Agent, { decision }: StatedDecision): readonly string[] {
  if (returnSchema === undefined) return [];
  const parsed = parsedResult(JSON.stringify(decision), returnSchema);
  return 'problems' in parsed ? parsed.problems : [];
}

/** Somebody who only answers has decided that, and does not say how sure they are. */
const answerRow = ({ context, agent }: Here, decision: Json): Draft =>
  decidedRow(context.node.id, agent.agentId, { decision, confidence: undefined });

const handoffDecision = ({ context, agent }: Here, { agentId, reason }: HandedOn): Draft =>
  decidedRow(context.node.id, agent.agentId, {
    decision: { kind: 'handoff', toAgentId: agentId },
    confidence: undefined,
    reasoning: reason,
  });

function decide(here: Here, decided: StatedDecision, handedOn: HandedOn | null): NodeAction {
  const { context, agent, options } = here;
  const { agentId, defaultThreshold, returnSchema } = agent;
  const row = decidedRow(context.node.id, agentId, decided);
  const held = escalation(context, { ...decided, agentId, defaultThreshold, returnSchema }, options);
  if (held.action === 'ask') return { kind: 'wait', drafts: [...here.rows, row, ...held.drafts] };
  const rows = held.action === 'suppressed' ? [row, ...held.drafts] : [row];
  if (handedOn !== null) return handOn(here, handedOn, rows);
  return finish(here, { decision: decided.decision, stated: decided, rows });
}

/** A human has looked at the decision that was held. */
export function actOnVerdict(
  context: DrivenContext<LoopState>,
  invocation: Invocation,
  verdict: Verdict,
  options: LoopOptions,
): NodeAction {
  const agent = agentOf(context, invocation.agentId);
  const here: Here = { context, invocation, agent, options, rows: [] };
  if (verdict.action === 'reject') {
    return verdict.isFinal
      ? endBadly(here, rejected(context.node.id, verdict))
      : askNext(here, { note: rejection(verdict) });
  }
  const { decided, handedOn } = statementsOf(context, invocation.turn as Turn, agent);
  if (handedOn !== null) return handOn(here, edited(handedOn, verdict), []);
  const stated = decided as StatedDecision;
  return finish(here, { decision: verdict.decision, stated, rows: [], outcome: 'escalated' });
}

/** What was decided goes on with the work, as the human has it. */
function edited(handedOn: HandedOn, { action, decision }: Exclude<Verdict, { action: 'reject' }>): HandedOn {
  if (action === 'approve') return handedOn;
  return { ...handedOn, message: `${handedOn.message}\n\nA person changed the decision to: ${inWords(decision)}` };
}

const rejection = ({ feedback }: Extract<Verdict, { action: 'reject' }>): string =>
  feedback === null
    ? 'A person rejected your decision without a word. Decide again, or say what you would need to know.'
    : `A person rejected your decision: ${feedback}`;

/** The work goes to a colleague; the next decision begins with them. */
function handOn({ context, invocation, agent, rows }: Here, handedOn: HandedOn, before: readonly Draft[]): NodeAction {
  const nodeId = context.node.id;
  const { agentId, message, task, reason } = handedOn;
  const handoff = handoffRow(nodeId, {
    from: agent.ref,
    to: agentOf(context, agentId).ref,
    reason,
    context: { message, ...(task === undefined ? {} : { task }) },
  });
  const completed = invocationCompletedRow(nodeId, {
    invocationId: invocation.id,
    agentId: agent.agentId,
    outcome: 'handed-off',
  });
  return { kind: 'wait', drafts: [...rows, ...before, handoff, completed] };
}

interface Finished {
  readonly decision: Json;
  /** Where it was stated by a call. */
  readonly stated?: StatedDecision;
  readonly rows: readonly Draft[];
  readonly outcome?: InvocationOutcome;
}

function finish(here: Here, { decision, stated, rows, outcome = 'completed' }: Finished): NodeAction {
  const { context, invocation, agent } = here;
  const { agentId, returnSchema } = agent;
  const confidence = validConfidence(stated?.confidence);
  const hasSchema = returnSchema !== undefined;
  const completed = invocationCompletedRow(context.node.id, {
    invocationId: invocation.id,
    agentId,
    outcome,
    schemaValidated: hasSchema ? true : undefined,
    confidence,
  });
  const text = (invocation.turn as Turn).text;
  const outputs: JsonObject = {
    content: text === '' ? inWords(decision) : text,
    ...(hasSchema ? { result: decision } : {}),
    ...(stated === undefined ? {} : { decision }),
    ...(confidence === undefined ? {} : { confidence }),
    agentId,
  };
  if (exceeds(outputs, MAX_ROW_BYTES)) return endBadly(here, tooMuch(context.node.id));
  return { kind: 'complete', outputs, drafts: [...here.rows, ...rows, completed], agentId };
}

/** With what the calls of the turn gave, which is said with the next one. */
const saidSoFar = ({ characters, calls }: Invocation): number =>
  calls.reduce((sum, { output }) => sum + JSON.stringify(output).length, characters);

/** One more turn of the model, unless that would be too much. */
export function askNext(here: Here, say: Parameters<typeof askModel>[2] = {}): NodeAction {
  const { context, invocation, rows } = here;
  const breach = turnBreach(context, context.inner);
  if (breach !== null) return endByBreach(here, breach);
  if (saidSoFar(invocation) > MAX_SAID_CHARACTERS) return endBadly(here, tooLong(context.node.id));
  const { drafts, effects } = askModel(context, invocation, say);
  return { kind: 'wait', drafts: [...rows, ...drafts], effects };
}

/** Off its schema: the model is told once, and then the node fails. */
function repair(here: Here, problems: readonly string[]): NodeAction {
  const { context, invocation, agent } = here;
  if (invocation.repairs === 0) {
    const note = `Your result does not have the required shape: ${problems.join('; ')}. Give it once more, as JSON that fits the schema and nothing else.`;
    return askNext(here, { note, repairs: true });
  }
  return endBadly(here, {
    code: 'handoff_return_schema_violation',
    message: `The result of ${agent.agentId} in node ${context.node.id} does not fit its schema: ${problems.join('; ')}.`,
    details: { agentId: agent.agentId, problems },
    retryable: true,
  });
}

function endByBreach(here: Here, breach: Breach): NodeAction {
  const nodeId = here.context.node.id;
  const rows = [...here.rows, breachRow(nodeId, breach)];
  return endBadly({ ...here, rows }, breachError(nodeId, breach));
}

/** An attempt that has changed something outside is not begun again by itself. */
export function endBadly(here: Here, error: RunError, outcome: InvocationOutcome = 'failed'): NodeAction {
  const { context, invocation, agent, rows } = here;
  const completed = invocationCompletedRow(context.node.id, {
    invocationId: invocation.id,
    agentId: agent.agentId,
    outcome,
    schemaValidated: error.code === 'handoff_return_schema_violation' ? false : undefined,
  });
  const retryable = error.retryable === true && context.inner.writes === 0;
  return { kind: 'fail', error: { ...error, retryable }, drafts: [...rows, completed] };
}

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

const tooMuch = (nodeId: string): RunError => ({
  code: 'event_too_large',
  message: `What the agent of node ${nodeId} gave has more than ${MAX_ROW_BYTES} bytes of JSON, which is more than an event can hold.`,
  retryable: false,
});

const tooLong = (nodeId: string): RunError => ({
  code: 'model_call_failed',
  message: `What was said and what tools gave in node ${nodeId} has more than ${MAX_SAID_CHARACTERS} characters, which no model reads.`,
  details: { class: 'context_length' },
  retryable: false,
});

const rejected = (nodeId: string, verdict: Extract<Verdict, { action: 'reject' }>): RunError => ({
  code: verdict.timedOut ? 'interrupt_timeout' : 'decision_rejected',
  message: verdict.timedOut
    ? `Nobody looked at the decision of node ${nodeId} in time.`
    : `The decision of node ${nodeId} was rejected for good${verdict.feedback === null ? '.' : `: ${JSON.stringify(verdict.feedback.slice(0, 500))}`}`,
  retryable: false,
});
