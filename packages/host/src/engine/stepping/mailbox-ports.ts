/** What a mailbox is given: the ports by which it reaches the world, and how it begins. */
import { RetryableError, type RunId } from '@cairn/protocol';
import type { Append, NewRun } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { RunState } from '../core/state.ts';
import type { IsUnwanted } from '../family/missed-ends.ts';
import type { Clock, Performer, Redactor, Report, Sha256 } from '../ports.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { RunLoader } from './run-loader.ts';

export interface MailboxPorts {
  readonly store: Pick<Store, 'log' | 'queue'>;
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly performers: ReadonlyMap<string, Performer>;
  readonly loader: RunLoader;
  readonly owner: string;
  readonly leaseMs: number;
  readonly report: Report;
  readonly redactor: Redactor | null;
  /** The run has ended, or a node of it that started others: these relatives have to know. */
  readonly tellRelatives: (state: RunState, relatives: readonly RunId[]) => void;
  readonly isUnwanted: IsUnwanted;
  /** A run was given back and wants to be woken by time. */
  readonly wakeBy: (at: number) => void;
  /** The mailbox holds nothing any more and can be forgotten. */
  readonly emptied: (runId: RunId, mailbox: object) => void;
}

/** A run that does not exist in the log yet. */
export interface RunCreation {
  readonly kind: 'create';
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly run: NewRun;
  readonly isAloneInScope: Append['isAloneInScope'];
}

/** A mailbox opens for a run that is being created, one whose lease was claimed, or one that rests. */
export type Opening = RunCreation | { readonly kind: 'claimed'; readonly fence: number } | { readonly kind: 'resting' };

/** The mailbox turns its callers away: another node holds the run. */
export const leaseGone = (runId: RunId) =>
  new RetryableError('lease_lost', {
    message: `Another node steps run ${runId} now.`,
    hint: 'Leave the run to its new holder.',
  });

/** The mailbox turns its callers away: it is closing. */
export const stopped = (runId: RunId) =>
  new RetryableError('service_unavailable', {
    message: `This host has stopped stepping run ${runId}.`,
    hint: 'Send the request again; another node or the restarted host will take it.',
  });
