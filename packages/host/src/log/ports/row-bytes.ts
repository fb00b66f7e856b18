/** What a row counts in quotas. */
import { utf8Size } from '../../utf8.ts';
import type { NewRow } from './rows.ts';

/** What a row costs beyond its texts: columns, hashes and its place in the indexes. */
export const ROW_OVERHEAD_BYTES = 256;

/** A value counts in each event that holds it, however the store keeps it. */
export const rowBytes = ({ payload, task, bytes }: Pick<NewRow, 'payload' | 'task' | 'bytes'>): number =>
  bytes ?? ROW_OVERHEAD_BYTES + utf8Size(payload) + (task === null ? 0 : utf8Size(task));

/** What rows count together. */
export function bytesOf(rows: readonly Pick<NewRow, 'payload' | 'task' | 'bytes'>[]): number {
  let bytes = 0;
  for (const row of rows) bytes += rowBytes(row);
  return bytes;
}
