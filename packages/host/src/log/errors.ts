/** Errors shared by all stores, so that one condition has one text. */
import { quoted, RetryableError, TerminalError } from '@cairn/protocol';
import { MAX_NOTICE_CHARACTERS, type Notice } from './ports/cluster.ts';
import type { WorkflowRecord } from './ports/definitions.ts';
import { type ForkRun, type ImportRun, MAX_SHARED_RUNS, type NewRun, type RunFork } from './ports/event-log.ts';
import type { IdempotencyWrite } from './ports/idempotency.ts';
import type { PackRecord } from './ports/packs.ts';
import type { SubscriptionRecord } from './ports/subscriptions.ts';

export const storeClosed = (): RetryableError =>
  new RetryableError('store_closed', {
    message: 'The store is closed.',
    hint: 'The host is stopping; try again when it is back.',
  });

/** Another request with the key was recorded first, or claimed the key after this owner's claim expired. */
export const idempotencyRefused = ({ record, owner }: IdempotencyWrite): RetryableError =>
  owner === null
    ? new RetryableError('conflict', {
        message: `${record.endpoint} was already carried out for this idempotency key.`,
        hint: 'Read the recorded outcome and answer with it.',
      })
    : new RetryableError('idempotency_in_flight', {
        message: `${record.endpoint} took so long that this idempotency key was given to the next request with it.`,
        hint: 'Send it again, unchanged, in a second.',
        details: { retryAfter: 1 },
      });

/** An imported run is a read-only copy of a run from another host. */
export const runImported = (runId: string): TerminalError =>
  new TerminalError('run_imported', {
    message: `Run ${runId} was imported; it is kept as it was and never goes on here.`,
    hint: 'Answer, cancel or pause it on the host it came from, or start a new run of its workflow.',
    details: { runId },
  });

export const runExists = (runId: string): TerminalError =>
  new TerminalError('conflict', { message: `Run ${runId} exists already.`, hint: 'Use another run id.' });

export const contextTaken = ({ runId, contextId }: NewRun & { readonly runId: string }): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} belongs to the context ${contextId}, which is another tenant's here.`,
    hint: 'Import it for the tenant that has the context, or into another data folder.',
  });

/** Another tenant's context looks like one that does not exist. */
export const foreignContext = (contextId: string): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no context "${contextId}" of this tenant.`,
    hint: 'Use another id, such as a new UUID, or leave it out.',
    details: { contextId },
  });

/** The source of a fork does not exist, or is another tenant's. */
export const forkSourceMissing = ({ sourceRunId }: RunFork): TerminalError =>
  new TerminalError('not_found', {
    message: `There is no run ${sourceRunId} to fork.`,
    hint: 'Check the id, and that the key belongs to the tenant that started the run.',
    details: { runId: sourceRunId },
  });

export const invalidFromSeq = ({ sourceRunId, fromSeq }: RunFork, lastSeq: number): TerminalError =>
  new TerminalError('invalid_from_seq', {
    message: `Run ${sourceRunId} ends at event ${lastSeq}, so it cannot be forked at ${fromSeq}.`,
    hint: `Fork it at ${lastSeq + 1} or before.`,
    details: { sourceRunId, fromSeq, maxFromSeq: lastSeq + 1 },
  });

/** The shared rows keep their cursors, and a context has each cursor once. */
export const forkContextTaken = ({ runId, contextId, originRunId }: ForkRun): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} cannot begin in the context ${contextId}, which has the events of run ${originRunId} already.`,
    hint: 'Give the fork a context of its own.',
  });

export const forkTooDeep = ({ sourceRunId }: RunFork): TerminalError =>
  new TerminalError('conflict', {
    message: `The events of run ${sourceRunId} belong to ${MAX_SHARED_RUNS} runs, because it is a fork of forks.`,
    hint: 'Fork one of the runs that it came from, or start a new run.',
    details: { runId: sourceRunId },
  });

/** The rows of an import do not lead to the promised hash. */
export const importMismatch = (run: ImportRun, found: { readonly seq: number; readonly hash: string }): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `The rows of run ${run.runId} lead to event ${found.seq} with hash ${found.hash}, not to event ${run.seq} with hash ${run.hash}.`,
    hint: 'Export the run again; nothing was imported.',
  });

export const subscriptionExists = ({ id }: SubscriptionRecord): TerminalError =>
  new TerminalError('conflict', { message: `There is a subscription ${id} already.`, hint: 'Use another id.' });

/** Seconds a client should wait before it retries to start a run in a taken scope. */
const SCOPE_RETRY_S = 1;

export const runAlreadyActive = (activeRunId: string, scopeId: string): RetryableError =>
  new RetryableError('run_already_active', {
    message: `Run ${activeRunId} works on scope ${quoted(scopeId)} and has not ended.`,
    hint: 'Follow or cancel that run, or try again once it has ended.',
    details: { activeRunId, retryAfter: SCOPE_RETRY_S },
  });

export const workflowVersionExists = (record: WorkflowRecord, hash: string): TerminalError =>
  new TerminalError('conflict', {
    message: `Workflow ${record.workflowId} has a version ${record.version} with another definition (${hash}).`,
    hint: 'Register the changed definition under a new version, or without one: the host derives it from the content.',
    details: { registered: hash, offered: record.hash },
  });

export const packVersionExists = (record: PackRecord, hash: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The pack ${record.name} has a version ${record.version} with other content (${hash}).`,
    hint: 'Give the changed pack a new version.',
    details: { installed: hash, offered: record.hash },
  });

/** A row names a blob that was never put, or a bundle lacks it. */
export const blobMissing = (runId: string, sha256: string): TerminalError =>
  new TerminalError('bundle_invalid', {
    message: `Rows of run ${runId} name the blob ${sha256}, which is not there.`,
    hint: 'Export the run again, with its artifacts.',
    details: { runId, sha256 },
  });

export const quotaExceeded = (tenant: string, used: number, limit: number): TerminalError =>
  new TerminalError('quota_exceeded', {
    message: `The events, artifacts and definitions of tenant ${tenant} take ${used} bytes; its quota is ${limit}.`,
    hint: 'Ask the operator to raise limits.tenantLogBytes. Reads and cancels still work.',
    details: { used, limit },
  });

/** Parses the run list position from a page cursor; null when there is no cursor. */
export function parseListCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const place = /^[1-9][0-9]{0,15}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (Number.isSafeInteger(place)) return place;
  throw invalidCursor(cursor);
}

export const invalidCursor = (cursor: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `The list cursor ${JSON.stringify(cursor.slice(0, 40))} is not one that a page gave.`,
    hint: 'Pass the nextCursor of the page before, or leave it out.',
  });

export const noticeTooLong = ({ topic, body }: Notice): TerminalError =>
  new TerminalError('validation_error', {
    message: `A notice about ${quoted(topic, 40)} has ${body.length} characters; ${MAX_NOTICE_CHARACTERS} are allowed.`,
    hint: 'Send less.',
  });
