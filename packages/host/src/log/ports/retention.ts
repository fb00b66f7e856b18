/** Retention: finds the runs that a rule or a person wants purged, what depends on them, and their size. */
import type { RunId } from '@cairn/protocol';
import type { RunRecord } from './run-index.ts';

export interface Retention {
  /** The next tenant and workflow that have runs; null at the end. */
  nextGroup(after: RunGroup | null): Promise<RunGroup | null>;
  /** Runs that a run started, in order, after the one named. */
  children(parentRunId: RunId, after: RunId | null, limit: number): Promise<readonly RunRecord[]>;
  /**
   * Runs that share rows of this run, at most `limit`; those that have not ended first. A fork that goes on is one of them
   * even if it shares nothing: it may take results from the record of its source.
   */
  forks(runId: RunId, limit: number): Promise<readonly RunRecord[]>;
  /** The size of one page of a run's rows. */
  size(runId: RunId, afterSeq: number): Promise<SizePage>;
}

/** The runs of one workflow of one tenant. */
export interface RunGroup {
  readonly tenant: string;
  readonly workflowId: string;
}

export interface SizePage {
  readonly events: number;
  /** As quotas count them. */
  readonly bytes: number;
  /** Where to continue; null at the end of the run. */
  readonly nextAfter: number | null;
}
