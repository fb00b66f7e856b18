/** What a mailbox is given: the ports it reaches the world by, and how it comes to be. */
import { RetryableError, type RunId } from '@cairn/protocol';
import type { Append, NewRun } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Batch } from '../core/compose.ts';
import type { RunState } from '../core/state.ts';
import type { IsUnwanted } from '../family/child-runs.ts';
import type { Clock, Performer, Redactor, Report, Sha256 } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { RunLoader } from './run-loader.ts';

export interface MailboxWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly performers: ReadonlyMap<string, Performer>;
  readonly loader: RunLoader;
  readonly owner: string;
  readonly leaseMs: number;
  readonly report: Report;
  readonly redactor: Redactor | null;
  /** The run has ended, or a node of it that started others: these relatives are to know. */
  readonly ended: (state: RunState, relatives: readonly RunId[]) => void;
  readonly isUnwanted: IsUnwanted;
  /** A run was given back and wants to be woken by time. */
  readonly wakeBy: (at: number) => void;
  /** The mailbox holds nothing any more and can be forgotten. */
  readonly emptied: (runId: RunId, mailbox: object) => void;
}

/** How a mailbox comes to be: for a run that is only now created, one whose lease was claimed, or one that rests. */
export type Opening =
  | {
      readonly kind: 'create';
      readonly state: RunState;
      readonly workflow: Workflow;
      readonly run: NewRun;
      readonly isAloneInScope: Append['isAloneInScope'];
    }
  | { readonly kind: 'claimed'; readonly fence: number }
  | { readonly kind: 'resting' };

/** To whom a mailbox turns away because the run is no longer its own. */
export const leaseGone = (runId: RunId) =>
  new RetryableError('lease_lost', {
    message: `Another node steps run ${runId} now.`,
    hint: 'Leave the run to its new holder.',
  });

/** To whom a mailbox turns away because it is closing. */
export const stopped = (runId: RunId) =>
  new RetryableError('service_unavailable', {
    message: `This host has stopped stepping run ${runId}.`,
    hint: 'Send the request again; another node or the restarted host will take it.',
  });

/** What one append of a mailbox commits: its rows, the lease as it is then, and relatives who have to look woken. */
export function appendOf(
  { clock, owner, leaseMs }: MailboxWorld,
  state: RunState,
  {
    batch,
    creating,
    fence,
    relatives,
  }: {
    batch: Batch;
    creating: Extract<Opening, { kind: 'create' }> | null;
    fence: number | null;
    relatives: readonly RunId[];
  },
): Append {
  const now = clock.now();
  return {
    runId: state.runId,
    rows: batch.rows,
    at: batch.base,
    create: creating?.run,
    outcomes: batch.outcomes,
    isAloneInScope: creating?.isAloneInScope,
    fence: fence ?? undefined,
    claim: fence === null ? { owner, now, until: now + leaseMs } : undefined,
    rest: batch.rest,
    wakes: relatives.map((runId) => ({ runId, at: now })),
  };
}
