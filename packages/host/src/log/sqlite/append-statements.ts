/** The statements of an append. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { idempotencyReader, idempotencyWriter } from './idempotency.ts';
import { type Query, query } from './query.ts';

export interface AppendStatements {
  readonly insert: StatementSync;
  /** Inserts a row without its large values. */
  readonly insertCut: StatementSync;
  readonly createRun: StatementSync;
  readonly keepInterrupt: StatementSync;
  readonly interrupt: StatementSync;
  readonly record: ReturnType<typeof idempotencyReader>;
  readonly saveRecord: ReturnType<typeof idempotencyWriter>;
  readonly inScope: Query<[runId: RunId]>;
}

const INSERTED = 'cursor, run, seq, at, type, node, cause, audience, payload, task, row_hash, hash';

export const appendStatements = (db: DatabaseSync): AppendStatements => ({
  insert: db.prepare(`INSERT INTO events (${INSERTED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  insertCut: db.prepare(
    `INSERT INTO events (${INSERTED}, cuts, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  createRun: db.prepare(
    // The key of a purged run is never given to another: its tombstones have it.
    `INSERT INTO runs (key, id, tenant, context, origin, parent, workflow, definition, principal, status, node, tags,
       error_code, error_message, created_at, ended_at, fence, owner, wake_at, imported_at, scope)
       VALUES (max(coalesce((SELECT max(key) FROM runs), 0), coalesce((SELECT max(key) FROM purged_runs), 0)) + 1,
         ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  keepInterrupt: db.prepare(
    `INSERT INTO interrupts (run, id, node, kind, open, requested_at, seq, votes, tenant)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (run, id) DO UPDATE SET open = excluded.open, requested_at = excluded.requested_at,
       seq = excluded.seq, votes = excluded.votes, tenant = excluded.tenant`,
  ),
  interrupt: db.prepare('SELECT 1 FROM interrupts WHERE run = ? AND id = ?'),
  record: idempotencyReader(db),
  saveRecord: idempotencyWriter(db),
  inScope: query(
    db,
    `SELECT id FROM runs WHERE tenant = ? AND scope = ? AND scope IS NOT NULL AND ended_at IS NULL
       AND imported_at IS NULL`,
  ),
});
