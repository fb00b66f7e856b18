/** The first own rows of a branch: what it changes at the cut, then the answer or the result that it is given there. */
import { isCairnError, type PayloadOf, type RunStatus, row, TerminalError } from '@cairn/protocol';
import type { NewRow } from '../../log/ports/rows.ts';
import { answerDrafts } from '../core/answers/answers.ts';
import { callReturned } from '../core/facts.ts';
import { runLimits } from '../core/limits.ts';
import { stamp } from '../core/stamp.ts';
import type { Draft, OpenCall } from '../core/state.ts';
import { checkBranchStart } from '../creation/start-run.ts';
import type { ForkRun } from '../engine.ts';
import { rootBudget } from '../family/budget.ts';
import { CHILD_PERFORMER, MODEL_PERFORMER } from '../performer-ids.ts';
import { sealedRow } from '../sensitive/references.ts';
import { sealInputs } from '../sensitive/seal-inputs.ts';
import type { ForkPorts } from './fork-ports.ts';
import { forkedPayload } from './forked-payload.ts';
import type { CutRun } from './tree-cut.ts';

export interface Branch {
  readonly request: ForkRun;
  readonly run: CutRun;
  readonly cutAt: number;
}

export interface OwnRows {
  readonly rows: readonly NewRow[];
  readonly status: RunStatus;
}

/** Throws before anything is written if the branch could not go on with what it is given. */
export function branchRows(ports: ForkPorts, branch: Branch): OwnRows {
  const { request, run } = branch;
  const { state, workflow } = run;
  const at = Math.max(ports.clock.now(), state.now);
  const rows = [...run.rows];
  // The branch closes every other call.
  const open = [...state.calls.values()].filter(takesResult).map(({ callId }) => callId);
  const { forked, sealed } = forkedDraft(ports, branch);
  rows.push(...stamp(state, workflow, [forked, ...sealed], at));
  const { answer, result } = ports.redaction.overlay(request.overlay ?? {});
  if (answer !== undefined) {
    const { drafts } = answered(branch, () =>
      answerDrafts({ state, workflow }, { ...answer, principal: request.principal }, at),
    );
    rows.push(...stamp(state, workflow, drafts, at));
  }
  if (result !== undefined) {
    const call = state.calls.get(result.callId);
    const given = callReturned(result.callId, call?.attempt ?? 0, { given: result.value });
    const drafts = given.propose(state, at, workflow);
    if (drafts.length === 0 || !open.includes(result.callId)) throw noOpenCall(open, request, result.callId);
    rows.push(...stamp(state, workflow, drafts, at));
  }
  return { rows, status: state.view.status };
}

/** Open questions or calls that a refusal names. */
const NAMED = 10;

/** A refusal names the source and the cut, because the run of the branch will never exist. */
function answered<Result>({ request: { runId, fromSeq }, run }: Branch, give: () => Result): Result {
  try {
    return give();
  } catch (error) {
    if (!isCairnError(error, 'interrupt_not_found')) throw error;
    const open = Object.keys(run.state.view.interrupts).slice(0, NAMED);
    throw new TerminalError('interrupt_not_found', {
      message: `Run ${runId} has no such question that is open at ${fromSeq}; ${open.length === 0 ? 'none is open there' : `open there: ${open.join(', ')}`}.`,
      hint: 'Fork at the event that records its answer, so that the question is open at the cut.',
      details: { sourceRunId: runId, fromSeq },
      cause: error,
    });
  }
}

/** Options that set limits of the run, and its budget. */
const limitOptions = ['recursionLimit', 'runTimeoutMs'];

function forkedDraft(ports: ForkPorts, { request, run, cutAt }: Branch): { forked: Draft; sealed: Draft[] } {
  const { tenant, overlay = {}, options = {} } = request;
  const { state, workflow } = run;
  const { view } = state;
  const given = ports.redaction.inputs(overlay.inputs ?? {});
  const sealing = sealInputs(ports, { definition: workflow.definition, tenant, inputs: given }, undefined);
  const inputs = ports.redaction.sealedInputs(sealing?.inputs ?? given);
  const { configurable, tags, metadata } = ports.redaction.overlay(options);
  const merged = { ...view.configurable, ...configurable };
  const changes = (name: string) => configurable !== undefined && Object.hasOwn(configurable, name);
  const budget = changes('budget') ? rootBudget(merged, ports.limits) : state.account.limits;
  checkBranchStart({
    workflow,
    inputs: { ...view.inputs, ...given },
    sealed: state.sealed,
    configurable: merged,
    budget,
    knownOptions: ports.runOptions,
  });
  const prompts = overlay.prompts === undefined ? undefined : ports.redaction.overlay(overlay.prompts);
  const changed: PayloadOf<'cairn.run.forked'>['overlay'] = {
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(configurable === undefined ? {} : { configurable }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(prompts === undefined ? {} : { prompts }),
    ...(overlay.result === undefined ? {} : { resultOf: overlay.result.callId }),
  };
  const payload = forkedPayload(request, run, cutAt);
  if (limitOptions.some(changes)) payload.limits = runLimits(workflow.definition, merged, ports.limits);
  if (changes('budget')) payload.budget = budget;
  if (Object.keys(changed).length > 0) payload.overlay = changed;
  const isSealed = sealing !== null && Object.keys(sealing.sealed).length > 0;
  return { forked: row('cairn.run.forked', payload), sealed: isSealed ? [sealedRow(sealing.sealed)] : [] };
}

/**
 * A child run is forked or begins: nothing stands for its start. A question to an agent has an answer. A turn of a model
 * has more parts than a result.
 */
const takesResult = ({ step, routes }: OpenCall): boolean =>
  step !== CHILD_PERFORMER && step !== MODEL_PERFORMER && routes === undefined;

function noOpenCall(openCalls: readonly string[], { runId, fromSeq }: ForkRun, callId: string): TerminalError {
  const open = openCalls.slice(0, NAMED);
  return new TerminalError('validation_error', {
    message: `Run ${runId} has no open call ${callId} at ${fromSeq}; ${open.length === 0 ? 'no call is open there' : `open there: ${open.join(', ')}`}.`,
    hint: 'Fork at the event that records the result, so that its call is open at the cut.',
    details: { sourceRunId: runId, fromSeq, callId, openCalls: open },
  });
}
