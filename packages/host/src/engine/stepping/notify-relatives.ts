/** Tells the relatives of a run that it ended, or that a node of it no longer waits for the runs it started. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { Fact } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import { childEnded, parentEnded } from '../family/ends.ts';
import type { Report } from '../ports.ts';

export interface NoticePorts {
  /** Records a fact in a run, whichever node steps it. */
  readonly write: (id: RunId, propose: Fact['propose']) => Promise<unknown>;
  readonly report: Report;
}

/** At once. Were this host stopped now, the wakes that were written with the end would tell the relatives. */
export function notifyRelatives(ports: NoticePorts, state: RunState, relatives: readonly RunId[]): void {
  const { runId, view } = state;
  for (const relative of relatives) {
    const isAbove = relative === view.parentRunId;
    notify(ports, relative, isAbove ? (other) => childEnded(other, state) : (other) => parentEnded(other, runId));
  }
}

function notify({ write, report }: NoticePorts, runId: RunId, propose: Fact['propose']): void {
  write(runId, propose).catch((error: unknown) => {
    // A relative looks again when it is woken, and a run that does not exist yet has missed nothing.
    if (isCairnError(error) && (error.retryable || error.code === 'not_found')) return;
    report({ level: 'warn', event: 'run.notify_failed', facts: { runId }, error });
  });
}
