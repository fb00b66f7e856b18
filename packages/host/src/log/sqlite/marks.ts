/** Digests of columns that no hash of an event covers, so that a changed one shows. */
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** What is left of an event, without its own mark. The hash of the row covers the content too, which is gone. */
export const TOMBSTONE_COLUMNS = 'cursor, run, seq, at, type, node, cause, audience, row_hash, hash';

/** What is left of a run, without its own mark and without how far its purge is. */
export const PURGED_RUN_COLUMNS =
  'key, id, tenant, context, origin, parent, fork_source, fork_seq, fork_mode, purged_at, seq, hash';

/** What a fork or an imported run is, which none of its events says. */
export const ORIGIN_COLUMNS = `key, id, tenant, context, origin, parent, imported_at, fork_source, fork_seq, fork_mode,
  iif(fork_source IS NULL, NULL, created_at)`;

/** The index of a fork whose first events are gone, so that it cannot be folded any more. Such a fork has ended. */
export const FROZEN_COLUMNS = frozenColumns(', title', ', summary');

/** The same in folders from before there were summaries. */
export const FROZEN_UNTITLED_COLUMNS = frozenColumns('', '');

function frozenColumns(ofInterrupt: string, ofRun: string): string {
  return `workflow, definition, principal, status, node, tags, error_code, error_message, created_at, ended_at, scope,
    (SELECT json_group_array(json_array(id, node, kind, open, requested_at, seq, votes, tenant${ofInterrupt}))
      FROM (SELECT * FROM interrupts WHERE interrupts.run = runs.key ORDER BY place))${ofRun}`;
}

/** Makes the function `mark_of(columns...)` known to the statements of a connection. */
export function defineMarks(db: DatabaseSync): void {
  db.function('mark_of', { deterministic: true, varargs: true }, (...columns) =>
    hash('sha256', JSON.stringify(columns), 'buffer'),
  );
}
