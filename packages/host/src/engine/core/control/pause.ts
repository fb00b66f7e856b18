/** Pauses and resumes runs: when a pause is allowed, which work drains first, and the row that records it. */
import { isoTime, isTerminalStatus, row, TerminalError } from '@cairn/protocol';
import type { Workflow } from '../../workflow/workflow.ts';
import type { Decision, Draft, Pause, Pending, RunState } from '../state.ts';
import { writeQuestions } from './recover.ts';

export interface PauseRequest {
  readonly drainPolicy: Pause['drainPolicy'];
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
}

export interface ResumeRequest {
  readonly reason?: string | undefined;
  readonly principal?: string | undefined;
}

/** Throws if the run cannot be paused. A second request can turn a draining pause into an immediate one. */
export function pauseRequested(state: RunState, { drainPolicy, reason, principal }: PauseRequest): readonly Draft[] {
  refuseUnlessGoingOn(state, 'paused');
  const { status } = state.view;
  if (status.startsWith('waiting')) {
    throw stateConflict(state, `waits for an answer (${status}), and a pause would hide that`, 'Answer it, or cancel.');
  }
  const hurries = state.pause?.pausedAt === null && drainPolicy === 'immediate';
  if (state.pause !== null && !(hurries && state.pause.drainPolicy !== 'immediate')) {
    const isPaused = state.pause.pausedAt !== null;
    throw stateConflict(
      state,
      isPaused ? 'is paused already' : 'is to pause once its nodes under way have finished',
      isPaused ? 'Resume it, or leave it.' : 'Wait for run.paused, or ask for the drainPolicy "immediate".',
    );
  }
  const payload = {
    drainPolicy,
    ...(reason === undefined ? {} : { reason }),
    ...(principal === undefined ? {} : { requestedBy: principal }),
  };
  return [row('cairn.pause.requested', payload)];
}

/** Throws unless the run is paused. */
export function resumed(state: RunState, { reason, principal }: ResumeRequest): readonly Draft[] {
  refuseUnlessGoingOn(state, 'resumed');
  const { pause } = state;
  if (pause === null || pause.pausedAt === null) {
    throw stateConflict(state, 'is not paused', 'Only a run whose status is paused can be resumed.');
  }
  const payload = {
    ...(reason === undefined ? {} : { reason }),
    ...(principal === undefined ? {} : { resumedBy: principal }),
  };
  return [row('run.resumed', payload, { cause: pause.seq })];
}

function refuseUnlessGoingOn(state: RunState, what: string): void {
  const { runId } = state;
  const { status } = state.view;
  if (isTerminalStatus(status)) {
    throw new TerminalError('run_terminal', {
      message: `Run ${runId} is ${status} and cannot be ${what}.`,
      hint: 'Start a new run.',
      details: { runId, runStatus: status },
    });
  }
  if (state.cancel !== null) throw stateConflict(state, 'is being cancelled', 'Nothing is left to do with it.');
}

function stateConflict(state: RunState, why: string, hint: string): TerminalError {
  const { runId, pause } = state;
  const pausedAt = pause?.pausedAt ?? null;
  return new TerminalError('conflict', {
    message: `Run ${runId} ${why}.`,
    hint,
    details: { runId, runStatus: state.view.status, ...(pausedAt === null ? {} : { pausedAt: isoTime(pausedAt) }) },
  });
}

/** Returns the next fact to act on. While a pause drains, facts that would start new work stay pending. */
export function nextFact(state: RunState): Pending | undefined {
  const { pause } = state;
  if (pause === null) return state.pending[0];
  return isDraining(pause) ? state.pending.find((fact) => !startsWork(fact)) : undefined;
}

/** Returns true if active nodes may continue: the run has no pause, or the pause is still draining. */
export const mayGoOn = (state: RunState): boolean => state.pause === null || isDraining(state.pause);

const isDraining = (pause: Pause): boolean => pause.pausedAt === null && pause.drainPolicy === 'drain-current-node';

function startsWork(fact: Pending): boolean {
  if (fact.kind === 'timer') return fact.timer.purpose === 'retry';
  return fact.kind !== 'step-returned' && fact.kind !== 'node-error';
}

const nothing: Decision = { drafts: [], effects: [] };

/** Writes `run.paused` at once, or after draining once no work is in progress. Decides nothing after that. */
export function pauseRun(state: RunState, workflow: Workflow, pause: Pause): Decision {
  if (pause.pausedAt !== null || (isDraining(pause) && isUnderWay(state))) return nothing;
  const { drainPolicy, reason, seq } = pause;
  // The outcome of an aborted write is unknown, so a human is asked, as after a crash.
  const questions = writeQuestions(state, workflow);
  const payload = { drainPolicy, ...(reason === null ? {} : { reason }) };
  return { drafts: [...questions, row('run.paused', payload, { cause: seq })], effects: [] };
}

/** A node that waits for an answer or for its retry has no work in progress. */
function isUnderWay(state: RunState): boolean {
  if (state.awaitedCalls > 0) return true;
  for (const timerId in state.timers) if (state.timers[timerId]?.purpose === 'delay') return true;
  return false;
}
