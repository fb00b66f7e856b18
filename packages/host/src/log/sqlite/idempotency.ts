/** Idempotency records in SQLite. Claiming a key and saving its record are separate transactions. */
import type { DatabaseSync } from 'node:sqlite';
import {
  EXPIRED_AT_ONCE,
  type IdempotencyKey,
  type IdempotencyRecord,
  type IdempotencyRecords,
  mayClaim,
  maySave,
  pendingRecord,
} from '../ports/idempotency.ts';
import { IDEMPOTENCY_COLUMNS, type IdempotencyColumns, idempotencyRecordOf } from '../record-columns.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

const KEY = 'tenant = ? AND endpoint = ? AND key = ?';

/** Writes a record, replacing any existing one. The run is the one that the request changed, by its key. */
export function idempotencyWriter(db: DatabaseSync): (record: IdempotencyRecord, run: number | null) => void {
  const put = db.prepare(
    `INSERT OR REPLACE INTO idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (record, run) => {
    const { tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at } = record;
    put.run(tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at, run);
  };
}

export function idempotencyReader(db: DatabaseSync): (key: IdempotencyKey) => IdempotencyRecord | null {
  const find = query<IdempotencyColumns>(db, `SELECT ${IDEMPOTENCY_COLUMNS} FROM idempotency WHERE ${KEY}`);
  return (key) => {
    const found = find.get(key.tenant, key.endpoint, key.key);
    return found === undefined ? null : idempotencyRecordOf(key, found);
  };
}

export function sqliteIdempotency({ db, writer, read }: Connection): IdempotencyRecords {
  const remove = db.prepare(`DELETE FROM idempotency WHERE ${KEY} AND state = 'pending' AND owner = ?`);
  const expire = db.prepare(
    `DELETE FROM idempotency WHERE place IN
       (SELECT place FROM idempotency WHERE at < ? ORDER BY at LIMIT ${EXPIRED_AT_ONCE})`,
  );
  const put = idempotencyWriter(db);
  const get = idempotencyReader(db);
  return {
    get: async (key) => read(() => get(key)),
    claim: (claim) =>
      writer.submit({
        tenant: claim.tenant,
        rows: 1,
        bytes: 0,
        apply: () => {
          const existing = get(claim);
          if (existing !== null && !mayClaim(existing, claim)) return existing;
          put(pendingRecord(claim), null);
          return null;
        },
      }),
    save: ({ record, owner }) =>
      writer.submit({
        tenant: record.tenant,
        rows: 1,
        bytes: record.body.length,
        apply: () => {
          if (maySave(get(record), owner)) put(record, null);
        },
      }),
    drop: ({ tenant, endpoint, key, owner }) =>
      writer.submit({ tenant, rows: 1, bytes: 0, apply: () => void remove.run(tenant, endpoint, key, owner) }),
    expireSome: (before) =>
      writer.submit({ rows: EXPIRED_AT_ONCE, bytes: 0, apply: () => Number(expire.run(before).changes) }),
  };
}
