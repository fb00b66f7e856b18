/** Folds the first own row of a branch: from here on the run is itself, not its source. */
import type { EventOf, FoldEvent } from '@cairn/protocol';
import { routesOfBranch } from '../../coordination/route-state.ts';
import { type ForkState, MAX_REUSED } from '../../fork/fork-state.ts';
import { renamed } from '../../fork/renamed.ts';
import { CHILD_PERFORMER } from '../../performer-ids.ts';
import type { OpenCall, RunState } from '../state.ts';
import { closeCall } from './calls.ts';

/** `gapMs` is the time between the last shared row and this one: no timer of the run may notice it. */
export function runForked(state: RunState, { seq, payload }: EventOf<'cairn.run.forked'>, gapMs: number): void {
  const { sourceRunId, fromSeq, rules = [], overlay = {}, children = {}, parentRunId } = payload;
  if (payload.runId !== undefined) state.payloadRunId = payload.runId;
  state.pause = null;
  state.cancel = null;
  delete state.timers.cancel;
  if (Object.keys(children).length > 0) renameChildren(state, new Map(Object.entries(children)));
  // A child that is forked alone becomes a root.
  if (parentRunId === undefined) state.depth = 0;
  routesOfBranch(state, parentRunId === undefined);
  state.attachedTo = state.attachedTo === null ? null : (parentRunId ?? null);
  for (const [timerId, timer] of Object.entries(state.timers)) {
    state.timers[timerId] = { ...timer, fireAt: timer.fireAt + gapMs };
  }
  if (payload.budget !== undefined) state.account = { ...state.account, limits: payload.budget };
  if (payload.limits !== undefined) changeLimits(state, payload.limits);
  for (const active of Object.values(state.active)) active.startedAt += gapMs;
  const open = [...state.calls.values()].filter((call) => isRepeated(call) && call.callId !== overlay.resultOf);
  state.fork = {
    seq,
    sourceRunId,
    fromSeq,
    gapMs: (state.fork?.gapMs ?? 0) + gapMs,
    rules,
    prompts: { ...state.fork?.prompts, ...overlay.prompts },
    changesModel: changesModel(overlay.configurable),
    scanFrom: Math.min(fromSeq, ...open.map(({ nodeId }) => state.active[nodeId]?.startedSeq ?? fromSeq)),
    verdicts: {},
    reused: [],
  };
  // As after an immediate pause, but with the rules of the branch: each call is requested again.
  for (const call of open) {
    closeCall(state, call.callId);
    state.pending.push({ kind: 'cut-short', nodeId: call.nodeId, seq, call });
  }
}

/** The run has the time that its new limit leaves it, and what it has done so far counts. */
function changeLimits(state: RunState, limits: RunState['limits']): void {
  const { run } = state.timers;
  const before = state.limits.timeoutMs;
  state.limits = limits;
  if (limits.timeoutMs === null) delete state.timers.run;
  else if (run !== undefined && before !== null) {
    state.timers.run = { ...run, fireAt: run.fireAt + limits.timeoutMs - before };
  } else {
    const fireAt = state.now + limits.timeoutMs;
    state.timers.run = { timerId: 'run', purpose: 'run-timeout', fireAt, setSeq: state.nextSeq - 1 };
  }
}

const isRepeated = ({ asked, step }: OpenCall): boolean => asked === undefined && step !== CHILD_PERFORMER;

/** Options that choose the model of a call. */
const modelOptions = ['model', 'ai.model', 'ai.provider'];

const changesModel = (configurable: object = {}): boolean =>
  modelOptions.some((name) => Object.hasOwn(configurable, name));

function renameChildren(state: RunState, ids: ReadonlyMap<string, string>): void {
  state.children = renamed(state.children, ids);
  state.orphans = renamed(state.orphans, ids);
  state.account = renamed(state.account, ids);
  state.calls = new Map(renamed([...state.calls], ids));
  state.inner = renamed(state.inner, ids);
  state.pending = renamed(state.pending, ids);
}

/** Notes the result of the source that a row repeats. */
export function noteReuse({ reused }: ForkState, { payload }: FoldEvent): void {
  const { reusedFrom } = payload as { readonly reusedFrom?: { readonly seq?: unknown } };
  if (typeof reusedFrom?.seq === 'number' && reused.length < MAX_REUSED) reused.push(reusedFrom.seq);
}
