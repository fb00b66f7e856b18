/** The statements of an append. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '@cairn/protocol';
import { contextTenants } from '../context-tenants.ts';
import { idempotencyReader, idempotencyWriter } from '../idempotency.ts';
import { type Query, query } from '../query.ts';

export interface AppendStatements {
  readonly insert: StatementSync;
  /** Inserts a row without its large values. */
  readonly insertCut: StatementSync;
  readonly interrupt: StatementSync;
  readonly record: ReturnType<typeof idempotencyReader>;
  readonly saveRecord: ReturnType<typeof idempotencyWriter>;
  readonly inScope: Query<[runId: RunId]>;
  readonly contextTenant: ReturnType<typeof contextTenants>;
}

const INSERTED = 'cursor, run, seq, at, type, node, cause, audience, payload, task, row_hash, hash, face';

export const appendStatements = (db: DatabaseSync): AppendStatements => ({
  insert: db.prepare(`INSERT INTO events (${INSERTED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  insertCut: db.prepare(
    `INSERT INTO events (${INSERTED}, cuts, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  interrupt: db.prepare('SELECT 1 FROM interrupts WHERE run = ? AND id = ? AND seq < ?'),
  record: idempotencyReader(db),
  saveRecord: idempotencyWriter(db),
  inScope: query(
    db,
    `SELECT id FROM runs WHERE tenant = ? AND scope = ? AND scope IS NOT NULL AND ended_at IS NULL
       AND imported_at IS NULL AND fork_mode IS NOT 'replay'`,
  ),
  contextTenant: contextTenants(db),
});
