/** Outcomes of requests that must not be carried out twice, in SQLite; taking one in hand and giving its outcome are transactions. */
import type { DatabaseSync } from 'node:sqlite';
import {
  type IdempotencyClaim,
  type IdempotencyRecord,
  maySettle,
  mayTake,
  pendingRecord,
} from '../ports/idempotency.ts';
import type { GroupCommit, Read } from './group-commit.ts';

const KEY = 'tenant = ? AND endpoint = ? AND key = ?';

/** Writes a record, over the one that stands. */
export function outcomeWriter(db: DatabaseSync): (record: IdempotencyRecord) => void {
  const put = db.prepare(
    `INSERT OR REPLACE INTO idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (record) => {
    const { tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at } = record;
    put.run(tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at);
  };
}

type Standing = (tenant: string, endpoint: string, key: string) => IdempotencyRecord | null;

/** Reads the record that stands for a key. */
export function outcomeReader(db: DatabaseSync): Standing {
  const find = db.prepare(
    `SELECT tenant, endpoint, key, digest AS requestDigest, state, owner, lease_until AS until, status, headers, body, at
     FROM idempotency WHERE ${KEY}`,
  );
  return (tenant, endpoint, key) => {
    const found = find.get(tenant, endpoint, key);
    return found === undefined ? null : ({ ...found } as unknown as IdempotencyRecord);
  };
}

export function sqliteIdempotency(db: DatabaseSync, writer: GroupCommit, read: Read) {
  const remove = db.prepare(`DELETE FROM idempotency WHERE ${KEY} AND state = 'pending' AND owner = ?`);
  const expire = db.prepare('DELETE FROM idempotency WHERE at < ?');
  const put = outcomeWriter(db);
  const standing = outcomeReader(db);
  return {
    idempotency: async (tenant: string, endpoint: string, key: string) => read(() => standing(tenant, endpoint, key)),
    claimIdempotency: (claim: IdempotencyClaim) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        apply: () => {
          const known = standing(claim.tenant, claim.endpoint, claim.key);
          if (known !== null && !mayTake(known, claim)) return known;
          put(pendingRecord(claim));
          return null;
        },
      }),
    settleIdempotency: (record: IdempotencyRecord, owner: string | null) =>
      writer.submit({
        rows: 1,
        bytes: record.body.length,
        apply: () => {
          if (maySettle(standing(record.tenant, record.endpoint, record.key), owner)) put(record);
        },
      }),
    dropIdempotency: ({ tenant, endpoint, key, owner }: IdempotencyClaim) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => void remove.run(tenant, endpoint, key, owner) }),
    expireIdempotency: (before: number) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => Number(expire.run(before).changes) }),
  };
}
