/** Refusals that every store words alike, so that callers and operators meet one text for one condition. */
import { RetryableError, TerminalError } from '@cairn/protocol';
import type { IdempotencyRecord, WorkflowRecord } from './port.ts';

export const storeClosed = (): RetryableError =>
  new RetryableError('store_closed', {
    message: 'The store is closed.',
    hint: 'The host is stopping; try again when it is back.',
  });

/** Somebody carried out the same request first; the recorded outcome is there to be read. */
export const idempotencyTaken = (record: IdempotencyRecord): RetryableError =>
  new RetryableError('conflict', {
    message: `${record.endpoint} was already carried out for this idempotency key.`,
    hint: 'Read the recorded outcome and answer with it.',
  });

export const versionTaken = (record: WorkflowRecord, hash: string): TerminalError =>
  new TerminalError('conflict', {
    message: `Workflow ${record.workflowId} has a version ${record.version} with another definition (${hash}).`,
    hint: 'Register the changed definition under a new version.',
    details: { registered: hash, offered: record.hash },
  });

/** The place in a run list that a page's cursor names; null when there is no cursor. */
export function parseListCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const place = /^[1-9][0-9]{0,15}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (Number.isSafeInteger(place)) return place;
  throw new TerminalError('validation_error', {
    message: `The list cursor ${JSON.stringify(cursor.slice(0, 40))} is not one that a page gave.`,
    hint: 'Pass the nextCursor of the page before, or leave it out.',
  });
}
