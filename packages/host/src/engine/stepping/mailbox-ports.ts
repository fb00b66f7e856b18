/** The ports of a mailbox, and the ways it opens. */
import { RetryableError, type RunId } from '@cairn/protocol';
import type { Append, NewRun } from '../../log/ports/event-log.ts';
import type { Store } from '../../log/ports/store.ts';
import type { HostLimits } from '../core/limits.ts';
import type { RunState } from '../core/state.ts';
import type { IsUnwanted } from '../family/missed-ends.ts';
import type { RecordedResults } from '../fork/recorded-results.ts';
import type { RunLoader } from '../loading/run-loader.ts';
import type { Clock, CrashRecord, Performer, Redactor, Report, Sha256 } from '../ports.ts';
import type { SourcePorts } from '../replay/source-reader.ts';
import type { SecretsOf } from '../sensitive/run-secrets.ts';
import type { SealPorts } from '../sensitive/seal-inputs.ts';
import type { TenantShares } from '../shares/tenant-shares.ts';
import type { Turns } from '../shares/turns.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { ShortWaits } from './short-waits.ts';
import type { StoppedRuns } from './stopped-runs.ts';

export interface MailboxPorts {
  readonly store: Pick<Store, 'log' | 'queue'>;
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly performers: ReadonlyMap<string, Performer>;
  readonly loader: RunLoader;
  readonly owner: string;
  readonly leaseMs: number;
  readonly limits: HostLimits;
  readonly report: Report;
  readonly stopped: StoppedRuns;
  readonly turns: Turns;
  readonly crashes: CrashRecord | null;
  readonly shares: TenantShares;
  readonly redactor: Redactor | null;
  readonly secretsOf: SecretsOf;
  readonly sealing: SealPorts;
  readonly shortWaits: ShortWaits;
  /** The records that replays follow. */
  readonly sources: SourcePorts;
  /** The recorded results that branches take again. */
  readonly recorded: RecordedResults;
  /** Notifies relatives that the run has ended, or that a node with child runs has ended. */
  readonly tellRelatives: (tenant: string, state: RunState, relatives: readonly RunId[]) => void;
  readonly isUnwanted: IsUnwanted;
  /** Asks the scheduler to wake a released run at this time. */
  readonly wakeBy: (at: number) => void;
  /** The mailbox is empty and can be removed. */
  readonly emptied: (runId: RunId, mailbox: { readonly tenant: string }) => void;
}

/** A run that does not exist in the log yet. */
export interface RunCreation {
  readonly kind: 'create';
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly run: NewRun;
  readonly isAloneInScope: Append['isAloneInScope'];
  readonly isNamedContext?: Append['isNamedContext'];
}

/** A mailbox opens for a new run, for a run with a claimed lease, or for a resting run. */
export type MailboxOpening =
  | RunCreation
  | { readonly kind: 'claimed'; readonly tenant: string; readonly fence: number }
  | { readonly kind: 'resting'; readonly tenant: string };

export const tenantOf = (opening: MailboxOpening): string =>
  opening.kind === 'create' ? opening.run.tenant : opening.tenant;

/** Rejects callers because the engine is closing. */
export const engineStopping = (): RetryableError =>
  new RetryableError('service_unavailable', {
    message: 'This host is stopping and takes no more commands.',
    hint: 'Send the request again; another node or the restarted host will take it.',
  });

/** Rejects callers because another node holds the run. */
export const leaseGone = (runId: RunId) =>
  new RetryableError('lease_lost', {
    message: `Another node steps run ${runId} now.`,
    hint: 'Leave the run to its new holder.',
  });

/** Rejects callers because the mailbox is closing. */
export const stopped = (runId: RunId) =>
  new RetryableError('service_unavailable', {
    message: `This host has stopped stepping run ${runId}.`,
    hint: 'Send the request again; another node or the restarted host will take it.',
  });
