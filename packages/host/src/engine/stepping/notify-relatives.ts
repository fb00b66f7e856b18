/** Notifies a run's relatives that it ended, or that a node of it no longer waits for its child runs. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { Fact } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import { childEnded, parentEnded } from '../family/ends.ts';
import type { Report } from '../ports.ts';

/** A run and the tenant that pays for its steps. */
export interface RunOfTenant {
  readonly tenant: string;
  readonly runId: RunId;
}

export interface NoticePorts {
  /** Records a fact in a run, regardless of which node holds it. */
  readonly write: (run: RunOfTenant, propose: Fact['propose']) => Promise<unknown>;
  readonly report: Report;
}

/** Notifies immediately. If this host stops first, the wakes written with the end notify the relatives. */
export function notifyRelatives(
  ports: NoticePorts,
  { tenant, state }: { readonly tenant: string; readonly state: RunState },
  relatives: readonly RunId[],
): void {
  const { runId, view } = state;
  for (const relative of relatives) {
    const isAbove = relative === view.parentRunId;
    notify(
      ports,
      { tenant, runId: relative },
      isAbove ? (other) => childEnded(other, state) : (other) => parentEnded(other, runId),
    );
  }
}

function notify({ write, report }: NoticePorts, run: RunOfTenant, propose: Fact['propose']): void {
  write(run, propose).catch((error: unknown) => {
    // A relative checks again when it is woken, and a run that does not exist yet has missed nothing.
    if (isCairnError(error) && (error.retryable || error.code === 'not_found')) return;
    report({ level: 'warn', event: 'run.notify_failed', facts: { runId: run.runId }, error });
  });
}
