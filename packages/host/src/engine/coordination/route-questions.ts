/** Puts open questions to the agents of the runs above, one level after the other, and takes their answers. */
import {
  isCairnError,
  isJsonObject,
  type Json,
  type JsonObject,
  type PayloadOf,
  payloadId,
  promptOf,
  row,
  runAbove,
  usageRow,
} from '@cairn/protocol';
import { answerDrafts } from '../core/answers/answers.ts';
import type { Decision, Draft, OpenCall, Route, RunState } from '../core/state.ts';
import { COORDINATOR_PERFORMER } from '../performer-ids.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { forwarded, nextCoordinator } from './routing.ts';

/** The input of the performer that asks an agent. */
export type CoordinatorRequest = {
  readonly inputId: string;
  /** The run that asks, and the agent in it. */
  readonly taskId: string;
  readonly askedBy: string | null;
  readonly prompt: string;
  readonly questions: readonly JsonObject[];
  /** The run above, and its agent. */
  readonly runId: string;
  readonly agentId: string;
};

/** What the performer gives back. The usage is that of a model turn. */
export type CoordinatorOutcome = {
  readonly answer?: Json;
  readonly forward?: true;
  readonly usage?: JsonObject;
};

/** Returns null if no question has to be asked. */
export function routeQuestions(state: RunState, workflow: Workflow): Decision | null {
  for (const interruptId in state.routes) {
    const route = state.routes[interruptId];
    if (route === undefined || route.callId !== null) continue;
    const answered = route.verdict === null ? null : answerOf(state, workflow, interruptId, route.verdict);
    if (answered !== null) return { drafts: answered, effects: [] };
    const paid = route.verdict === null ? [] : usageRows(route.verdict);
    const next = asked(state, interruptId, route);
    return { drafts: [...paid, ...next.drafts], effects: next.effects };
  }
  return null;
}

type Verdict = NonNullable<Route['verdict']>;

/** An answer passes the checks that the answer of a person passes. One that does not fit counts as none. */
function answerOf(state: RunState, workflow: Workflow, interruptId: string, verdict: Verdict): Draft[] | null {
  const { outcome, agentId, seq } = verdict;
  if (!isJsonObject(outcome) || outcome.answer === undefined) return null;
  try {
    const { drafts } = answerDrafts({ state, workflow }, { interruptId, value: outcome.answer }, state.now);
    return [...usageRows(verdict), ...drafts.map((draft) => signed(draft, agentId, seq))];
  } catch (error) {
    if (isCairnError(error)) return null;
    throw error;
  }
}

/** The rows of an answer name the agent, and not a person. */
function signed(draft: Draft, agentId: string, cause: number): Draft {
  if (draft.type === 'interrupt.resolved') return { ...draft, payload: { ...draft.payload, agentId }, cause };
  if (draft.type === 'clarification.resolved') {
    return { ...draft, payload: { ...draft.payload, answeredBy: agentId }, cause };
  }
  return { ...draft, cause };
}

/** On no node: the agent that asks did not spend it. */
function usageRows({ outcome, seq }: Verdict): Draft[] {
  const usage = isJsonObject(outcome) && isJsonObject(outcome.usage) ? outcome.usage : null;
  if (usage === null) return [];
  return [usageRow(usage, { cause: seq })];
}

function asked(state: RunState, interruptId: string, { nodeId, level, verdict }: Route): Decision {
  const cause = verdict?.seq ?? state.view.interrupts[interruptId]?.seq;
  const next = nextCoordinator(state, level);
  if (next === null) return { drafts: [forwarded(interruptId, cause)], effects: [] };
  const callId = payloadId(state.view.idToken, 'call', `${interruptId}^${next.level + 1}`);
  const request = { nodeId, callId, attempt: 1, routes: interruptId, agentId: next.agentId, level: next.level + 1 };
  return { drafts: [routeRow(request, cause)], effects: [{ kind: 'step', callId }] };
}

type Request = Omit<PayloadOf<'cairn.step.requested'>, 'step' | 'safety'>;

/** A side turn has no effect, so that it may be repeated. */
const routeRow = (request: Request, cause: number | undefined): Draft =>
  row('cairn.step.requested', { ...request, step: COORDINATOR_PERFORMER, safety: 'idempotent' }, { cause });

/** After this many lost holders, people are asked. */
const MAX_RECOVERIES = 3;

/** A new holder asks the agent again. */
export function askCoordinatorAgain(state: RunState, call: OpenCall, interruptId: string): Decision {
  const { nodeId, callId, attempt, recoveries, requestedSeq } = call;
  const level = state.routes?.[interruptId]?.level ?? 1;
  const agentId = state.coordinators?.[level - 1] ?? null;
  if (agentId === null || recoveries >= MAX_RECOVERIES) {
    return { drafts: [forwarded(interruptId, requestedSeq)], effects: [] };
  }
  const again = {
    nodeId,
    callId,
    attempt: attempt + 1,
    routes: interruptId,
    agentId,
    level,
    recoveries: recoveries + 1,
  };
  return { drafts: [routeRow(again, requestedSeq)], effects: [{ kind: 'step', callId }] };
}

export function coordinatorInput(state: RunState, interruptId: string): CoordinatorRequest {
  const interrupt = state.view.interrupts[interruptId];
  const level = state.routes?.[interruptId]?.level ?? 1;
  const { questions } = interrupt?.data ?? {};
  return {
    inputId: interruptId,
    taskId: state.runId,
    askedBy: state.view.nodeStates[interrupt?.nodeId ?? '']?.agentId ?? null,
    prompt: interrupt === undefined ? '' : promptOf(interrupt),
    questions: Array.isArray(questions) ? questions.filter(isJsonObject) : [],
    runId: runAbove(state.runId, level) ?? '',
    agentId: state.coordinators?.[level - 1] ?? '',
  };
}
