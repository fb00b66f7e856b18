/** Notifies a run's relatives that it ended, or that a node of it no longer waits for its child runs. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { Fact } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import { childEnded, parentEnded } from '../family/ends.ts';
import type { Report } from '../ports.ts';

export interface NoticePorts {
  /** Records a fact in a run, regardless of which node holds it. */
  readonly write: (id: RunId, propose: Fact['propose']) => Promise<unknown>;
  readonly report: Report;
}

/** Notifies immediately. If this host stops first, the wakes written with the end notify the relatives. */
export function notifyRelatives(ports: NoticePorts, state: RunState, relatives: readonly RunId[]): void {
  const { runId, view } = state;
  for (const relative of relatives) {
    const isAbove = relative === view.parentRunId;
    notify(ports, relative, isAbove ? (other) => childEnded(other, state) : (other) => parentEnded(other, runId));
  }
}

function notify({ write, report }: NoticePorts, runId: RunId, propose: Fact['propose']): void {
  write(runId, propose).catch((error: unknown) => {
    // A relative checks again when it is woken, and a run that does not exist yet has missed nothing.
    if (isCairnError(error) && (error.retryable || error.code === 'not_found')) return;
    report({ level: 'warn', event: 'run.notify_failed', facts: { runId }, error });
  });
}
