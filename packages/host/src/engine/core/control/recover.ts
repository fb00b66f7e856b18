/**
 * Recovers open calls: a new holder handles steps that the previous holder requested and that have no recorded result.
 */
import type { JsonObject } from '@cairn/protocol';
import { askCoordinatorAgain } from '../../coordination/route-questions.ts';
import { asksPeople, useOf } from '../../fork/call-rules.ts';
import type { ForkState } from '../../fork/fork-state.ts';
import { stepInput } from '../../nodes/step-node.ts';
import type { NodeContext } from '../../workflow/node-type.ts';
import type { Workflow } from '../../workflow/workflow.ts';
import { aboutDriven, askAgain, closingRows, drivenInput } from '../driven.ts';
import { CALL_PROPOSED, STEP_INTERRUPTED } from '../evolve/interrupts.ts';
import { askDrafts, type Question } from '../interrupts.ts';
import { activeContext, endNode, failNode } from '../node-decisions.ts';
import { nodeById } from '../node-of.ts';
import type { Decision, Draft, Effect, OpenCall, RunError, RunState } from '../state.ts';

/**
 * Handles all open calls that are not in progress here, in one decision. Repeatable calls are requested again; for a
 * `write` a human is asked.
 */
export function recover(
  state: RunState,
  workflow: Workflow,
  underWay: (callId: string) => boolean = () => false,
): Decision {
  const drafts: Draft[] = [];
  const effects: Effect[] = [];
  if (state.ended || state.cancel !== null || state.failure !== null) return { drafts, effects };
  // An immediate pause handles open calls itself.
  if (state.pause?.drainPolicy === 'immediate') return { drafts, effects };
  for (const call of state.calls.values()) {
    if (call.asked !== undefined || !isRepeatable(call) || underWay(call.callId)) continue;
    const { routes } = call;
    const again = routes === undefined ? requestAgain(state, workflow, call) : askCoordinatorAgain(state, call, routes);
    drafts.push(...again.drafts);
    effects.push(...again.effects);
  }
  return { drafts: [...drafts, ...writeQuestions(state, workflow, underWay)], effects };
}

/** After this many lost holders the call itself may be the cause, so a human reviews it first. */
const MAX_RECOVERIES = 10;

const isRepeatable = ({ safety, recoveries }: OpenCall): boolean => safety !== 'write' && recoveries < MAX_RECOVERIES;

function requestAgain(state: RunState, workflow: Workflow, call: OpenCall): Decision {
  const context = activeContext(state, nodeById(workflow, call.nodeId), workflow);
  const { drafts, effects } = askAgain(context, call, call.requestedSeq);
  // The last row is the request.
  const counted = drafts.map((draft, i) => (i < drafts.length - 1 ? draft : counting(draft, call.recoveries + 1)));
  return { drafts: counted, effects };
}

/** Any row that requests a call can carry its recovery count. */
const counting = (draft: Draft, recoveries: number): Draft =>
  ({ ...draft, payload: { ...draft.payload, recoveries } }) as Draft;

/** Asks a human about every open call that is not repeatable and not in progress here. */
export function writeQuestions(
  state: RunState,
  workflow: Workflow,
  underWay: (callId: string) => boolean = () => false,
): Draft[] {
  const drafts: Draft[] = [];
  let ahead = 0;
  for (const call of state.calls.values()) {
    if (call.asked !== undefined || isRepeatable(call) || underWay(call.callId)) continue;
    const about = aboutDriven(state, workflow, call) ?? { inputs: state.active[call.nodeId]?.inputs ?? {} };
    for (const draft of askDrafts(state, question(call, about, ahead)))
      drafts.push({ ...draft, cause: call.requestedSeq });
    ahead += 1;
  }
  return drafts;
}

/** Make the call, take the recorded result of the source, use another result, or fail. */
const proposalSchema: JsonObject = {
  type: 'object',
  required: ['action'],
  properties: { action: { enum: ['run', 'reuse', 'use', 'fail'] }, result: {} },
  if: { properties: { action: { const: 'use' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['result'] },
};

const verdictSchema: JsonObject = {
  type: 'object',
  required: ['action'],
  properties: { action: { enum: ['retry', 'use', 'fail'] }, result: {} },
  if: { properties: { action: { const: 'use' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['result'] },
};

/** Asks a human about every open call of a branch whose rule is `ask`, before it is made. Null if there is none. */
export function proposeCalls(state: RunState, workflow: Workflow, fork: ForkState): Decision | null {
  if (!asksPeople(fork)) return null;
  const drafts: Draft[] = [];
  let ahead = 0;
  for (const call of state.calls.values()) {
    if (call.asked !== undefined || call.routes !== undefined) continue;
    const input = drivenInput(state, workflow, call) ?? stepInput(state, workflow, call);
    if (useOf(fork, workflow, { call, input }) !== 'ask') continue;
    const about = aboutDriven(state, workflow, call) ?? { inputs: state.active[call.nodeId]?.inputs ?? {} };
    const asked = { ...question(call, about, ahead), data: proposal(call, about, fork), resumeSchema: proposalSchema };
    for (const draft of askDrafts(state, asked)) drafts.push({ ...draft, cause: call.requestedSeq });
    ahead += 1;
  }
  return drafts.length === 0 ? null : { drafts, effects: [] };
}

const proposal = ({ callId, step, attempt }: OpenCall, about: JsonObject, { sourceRunId }: ForkState): JsonObject => ({
  customKind: CALL_PROPOSED,
  payload: { callId, step, attempt, ...(sourceRunId === null ? {} : { sourceRunId }), ...about },
});

const question = ({ nodeId, callId, step, attempt }: OpenCall, about: JsonObject, ahead: number): Question => ({
  nodeId,
  kind: 'custom',
  data: { customKind: STEP_INTERRUPTED, payload: { callId, step, attempt, ...about } },
  resumeSchema: verdictSchema,
  ahead,
});

/** Applies a human's verdict on the step: retry it, use the given result, or fail it. */
export function verdictDecision(context: NodeContext, call: OpenCall, verdict: JsonObject, cause: number): Decision {
  const { action } = verdict;
  if (action === 'retry' || action === 'run' || action === 'reuse') return askAgain(context, call, cause);
  if (action === 'use') {
    const given = verdict.result ?? null;
    const drafts = closingRows(context, call, { result: { given }, cause });
    return drafts === null ? endNode(context, given, cause) : { drafts, effects: [] };
  }
  const message = `Step ${call.step} of node ${context.node.id} was interrupted, and it was decided to give it up.`;
  const error: RunError = { code: 'step_interrupted', message, retryable: false };
  const drafts = closingRows(context, call, { result: { error }, cause }) ?? failNode(context, error, cause);
  return { drafts, effects: [] };
}
