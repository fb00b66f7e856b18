/** The open interrupts of a run, as answerers read them. */
import type { OpenInterrupt } from '../interrupts/open-interrupts.ts';
import { type InterruptView, openWaits } from './interrupts.ts';
import type { RunView } from './run-view.ts';
import { isoTime } from './snapshot.ts';

/** Oldest first, without the votes. */
export const waitingInterrupts = (view: RunView): OpenInterrupt[] =>
  openWaits(view).map((interrupt) => shown(view.runId, interrupt));

const shown = (runId: string, interrupt: InterruptView): OpenInterrupt => ({
  runId,
  nodeId: interrupt.nodeId,
  interruptId: interrupt.interruptId,
  kind: interrupt.kind,
  key: interrupt.key,
  data: interrupt.data,
  ...(interrupt.resumeSchema !== null && { resumeSchema: interrupt.resumeSchema }),
  ...(interrupt.timeoutMs !== null && { timeoutMs: interrupt.timeoutMs }),
  requestedAt: isoTime(interrupt.requestedAt),
  ...(interrupt.expiresAt !== null && { expiresAt: isoTime(interrupt.expiresAt) }),
});
