/** Builds the append that commits a batch, and classifies its failures for the mailbox. */
import { type CairnError, isCairnError, type RunId } from '@cairn/protocol';
import type { Append } from '../../log/ports/event-log.ts';
import type { Batch } from '../core/compose.ts';
import { type Fact, mustFail } from '../core/facts.ts';
import type { MailboxPorts, RunCreation } from './mailbox-ports.ts';

export interface BatchAppend {
  readonly runId: RunId;
  readonly batch: Batch;
  readonly creating: RunCreation | null;
  /** The fence of the lease it is written under; null if the append itself takes the lease. */
  readonly fence: number | null;
  /** Relatives to wake because of this batch. */
  readonly relatives: readonly RunId[];
}

/** Combines everything that must commit atomically: the rows, the lease after them, and the wakes of relatives. */
export function appendOf({ clock, owner, leaseMs, limits }: MailboxPorts, request: BatchAppend): Append {
  const { runId, batch, creating, fence, relatives } = request;
  const now = clock.now();
  return {
    runId,
    rows: batch.rows,
    at: batch.base,
    create: creating?.run,
    idempotency: batch.idempotency,
    isAloneInScope: creating?.isAloneInScope,
    isNamedContext: creating?.isNamedContext,
    maxTenantBytes: batch.isEnding ? undefined : limits.maxTenantLogBytes,
    fence: fence ?? undefined,
    claim: fence === null ? { owner, now, until: now + leaseMs } : undefined,
    rest: batch.rest,
    wakes: relatives.map((relative) => ({ runId: relative, at: now })),
  };
}

/**
 * Why an append was not acknowledged. `lease-lost` and `overtaken`: it did not take place. `unknown`: the store failed,
 * and only the log shows whether it took place.
 */
export type Refusal = 'lease-lost' | 'overtaken' | 'unknown';

export function refusalOf(error: unknown): Refusal {
  if (isCairnError(error, 'lease_lost') || isCairnError(error, 'lease_held')) return 'lease-lost';
  return isCairnError(error, 'conflict') || isCairnError(error, 'run_terminal') ? 'overtaken' : 'unknown';
}

/** Pieces of an artifact that the store refuses, whatever else the append holds. */
export const isMisplaced = (error: unknown): error is CairnError =>
  isCairnError(error, 'artifact_chunk_out_of_order') || isCairnError(error, 'artifact_version_conflict');

/**
 * What follows when the tenant's quota has no room for a batch. Requests are refused. Without one, the run itself is at
 * fault: it fails, and what its calls emit is refused. The failure comes first, or a fact that fills a batch would keep
 * it out of every one.
 */
export function withoutRoom({ facts }: Batch, { code, message }: CairnError) {
  const requests = facts.filter(({ internal }) => !internal);
  const internal = facts.filter((fact) => fact.internal);
  if (requests.length > 0) return { refused: requests, next: internal };
  const refused = internal.filter(({ isEmission }) => isEmission === true);
  const kept = internal.filter(({ isEmission }) => isEmission !== true);
  return { refused, next: [mustFail({ code, message, retryable: false }), ...kept] };
}

/**
 * Selects the facts to retry: internal ones, and those that only failed because of another request's idempotency key.
 */
export function retriesAfter(error: unknown): (fact: Fact) => boolean {
  const isKeyTaken = isCairnError(error, 'idempotency_in_flight');
  return (fact) => fact.internal || (isKeyTaken && fact.idempotencyRecord === undefined);
}

/** Characters of a batch's rows. */
export function sizeOf({ rows }: Batch): number {
  let size = 0;
  for (const { payload, task } of rows) size += payload.length + (task?.length ?? 0);
  return size;
}
