/** A run in the memory of the process that holds it, and the mailbox around it. */

import type { Attempts } from '../attempts/attempts.ts';
import type { Fact } from '../core/facts.ts';
import type { RunState } from '../core/state.ts';
import type { OperatorEvent } from '../operator-events.ts';
import type { ReplayFork } from '../replay/replay-fork.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { RestingRun } from './recent-states.ts';

/** The run in memory, folded as far as this process has read or written its log. */
export interface LoadedRun {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly record: RestingRun['record'];
  readonly attempts: Attempts;
  /** Set for a replay: it takes its facts from a record and performs nothing. */
  readonly replay: ReplayFork | null;
}

/** Callbacks to the mailbox that holds the run. */
export interface Holder {
  readonly post: (fact: Fact) => void;
  readonly nudge: () => void;
  readonly report: (level: 'warn' | 'error', event: OperatorEvent, error: unknown) => void;
}
