/** Finds the due timers of a run; the caller turns them into `cairn.timer.fired` rows. */
import type { RunState, Timer } from './state.ts';

/**
 * Time passes in a paused run, but its due timers wait until it is resumed. A pending immediate pause counts as paused. A
 * cancellation ends a pause.
 */
const isPaused = ({ pause, cancel }: RunState): boolean =>
  pause !== null && cancel === null && (pause.pausedAt !== null || pause.drainPolicy === 'immediate');

/** Returns when the next timer fires, or null if the run has no timer to wait for. */
export function nextTimer(state: RunState): number | null {
  if (isPaused(state)) return null;
  let next: number | null = null;
  for (const timerId in state.timers) {
    const { fireAt } = state.timers[timerId] as Timer;
    if (next === null || fireAt < next) next = fireAt;
  }
  return next;
}

/** Returns the timers due by `now`, in due order. */
export function dueTimers(state: RunState, now: number): Timer[] {
  const due: Timer[] = [];
  if (isPaused(state)) return due;
  for (const timerId in state.timers) {
    const timer = state.timers[timerId] as Timer;
    if (timer.fireAt <= now) due.push(timer);
  }
  return due.sort((a, b) => a.fireAt - b.fireAt || a.setSeq - b.setSeq);
}
