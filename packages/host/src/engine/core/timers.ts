/** Which timers of a run are due; the caller turns them into `cairn.timer.fired` facts. */
import type { RunState, Timer } from './state.ts';

/** Time passes in a paused run too, but what falls due waits until it is resumed. One that is to pause at once counts as paused. */
const isPaused = ({ pause }: RunState): boolean =>
  pause !== null && (pause.pausedAt !== null || pause.drainPolicy === 'immediate');

/** The earliest instant at which a timer fires; null when the run waits for no time. */
export function nextTimer(state: RunState): number | null {
  if (isPaused(state)) return null;
  let next: number | null = null;
  for (const timerId in state.timers) {
    const { fireAt } = state.timers[timerId] as Timer;
    if (next === null || fireAt < next) next = fireAt;
  }
  return next;
}

/** The timers to fire by `now`, in the order in which they were due. */
export function dueTimers(state: RunState, now: number): Timer[] {
  const due: Timer[] = [];
  if (isPaused(state)) return due;
  for (const timerId in state.timers) {
    const timer = state.timers[timerId] as Timer;
    if (timer.fireAt <= now) due.push(timer);
  }
  return due.sort((a, b) => a.fireAt - b.fireAt || a.setSeq - b.setSeq);
}
