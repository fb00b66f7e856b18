/** Who is asked first: the agents of the runs above, or people. Decided when a question is asked, and recorded with it. */
import { type InterruptKind, isJsonObject, isSignIn, type JsonObject, requiresUser, row } from '@cairn/protocol';
import type { Draft, RunState } from '../core/state.ts';
import { spentBy } from '../family/budget.ts';

/** How often the questions of one run may be put to agents above. Each time may cost a model turn. */
const MAX_ROUTED_TURNS = 32;

/**
 * `null`: the question needs no word about it, because it is asked in a root, or is for the user who started the run.
 * Only a clarification goes to an agent. An approval, the review of a decision, a turn of a conversation, an event from
 * outside and a call that was interrupted are for people: no text of a model advances them.
 */
export function routingOf(
  state: Readonly<RunState>,
  question: { readonly kind: InterruptKind; readonly data: JsonObject },
): 'agent' | 'user' | null {
  if (state.coordinators === undefined || requiresUser(question) || isSignIn(question)) return null;
  const isForAgents = question.kind === 'clarification' && !decidesElsewhere(question.data);
  return isForAgents && nextCoordinator(state, 0) !== null ? 'agent' : 'user';
}

/** An approval or a sign-in of a run on another host, which is asked for here. */
const decidesElsewhere = ({ metadata }: JsonObject): boolean =>
  isJsonObject(metadata) && metadata.subkind !== undefined;

/** People are asked from now on. */
export const forwarded = (inputId: string, cause?: number): Draft =>
  row('cairn.input.forwarded', { inputId }, { cause });

/** The next agent to ask from this level on; null if people are asked instead. */
export function nextCoordinator(
  state: Readonly<RunState>,
  from: number,
): { readonly level: number; readonly agentId: string } | null {
  const { coordinators = [], routedTurns = 0 } = state;
  if (routedTurns >= MAX_ROUTED_TURNS || isSpent(state)) return null;
  for (let level = from; level < coordinators.length; level++) {
    const agentId = coordinators[level];
    if (agentId != null) return { level, agentId };
  }
  return null;
}

/** The turn of an agent above is paid from the budget of the run that asks. */
function isSpent(state: Readonly<RunState>): boolean {
  const { maxTokens, maxCostUsd } = state.account.limits;
  if (maxTokens === undefined && maxCostUsd === undefined) return false;
  const { tokens, costUsd } = spentBy(state);
  return tokens >= (maxTokens ?? Number.POSITIVE_INFINITY) || costUsd >= (maxCostUsd ?? Number.POSITIVE_INFINITY);
}
