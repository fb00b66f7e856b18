/** Folds the rows that set timers and the rows that record their firing. */
import type { EventOf } from '@cairn/protocol';
import type { RunState, Timer } from '../state.ts';
import { isDriven } from './calls.ts';

/** Sets a timer on an active node. The timer ends with the attempt. */
export function setTimer(state: RunState, timer: Timer & { readonly nodeId: string }): void {
  const active = state.active[timer.nodeId];
  if (active === undefined) return;
  active.timers.push(timer.timerId);
  state.timers[timer.timerId] = timer;
}

export function timerSet(state: RunState, event: EventOf<'cairn.timer.set'>): void {
  const { nodeId, payload } = event;
  if (nodeId === undefined) return;
  const { timerId, purpose } = payload;
  setTimer(state, { timerId, purpose, nodeId, fireAt: Date.parse(payload.fireAt), setSeq: event.seq });
}

export function timerFired(state: RunState, event: EventOf<'cairn.timer.fired'>): void {
  const timer = state.timers[event.payload.timerId];
  if (timer === undefined) return;
  delete state.timers[timer.timerId];
  if (timer.purpose === 'cancel-deadline') {
    if (state.cancel !== null) state.cancel.isOverdue = true;
    return;
  }
  // The driver handles the delay of a driven node when it folds this row.
  if (timer.purpose === 'delay' && timer.nodeId !== undefined && isDriven(state, timer.nodeId)) return;
  state.pending.push({ kind: 'timer', seq: event.seq, timer });
}

/** Drops a fired timer whose wait has already ended. */
export function dropTimer(state: RunState, timerId: string): void {
  if (state.pending.length === 0) return;
  state.pending = state.pending.filter((fact) => fact.kind !== 'timer' || fact.timer.timerId !== timerId);
}
