/** Idempotency records in Postgres. Claiming a key and saving its record are separate transactions. */
import {
  EXPIRED_AT_ONCE,
  type IdempotencyKey,
  type IdempotencyRecord,
  type IdempotencyRecords,
  mayClaim,
  maySave,
  pendingRecord,
} from '../../ports/idempotency.ts';
import { IDEMPOTENCY_COLUMNS, type IdempotencyColumns, idempotencyRecordOf } from '../../record-columns.ts';
import type { Database, Queries } from '../database.ts';
import { lockKey } from '../lock-key.ts';

const FIND = `SELECT ${IDEMPOTENCY_COLUMNS} FROM cairn.idempotency
  WHERE tenant = $1::text AND endpoint = $2::text AND key = $3::text`;

export const idempotencyRecord = (queries: Queries, key: IdempotencyKey): Promise<IdempotencyRecord | null> =>
  find(queries, FIND, key);

async function find(queries: Queries, text: string, key: IdempotencyKey): Promise<IdempotencyRecord | null> {
  const [found] = await queries.rows<IdempotencyColumns>(text, [key.tenant, key.endpoint, key.key]);
  return found === undefined ? null : idempotencyRecordOf(key, found);
}

/** Appends that record the outcome of a request lock the same name. */
export const idempotencyLock = ({ tenant, endpoint, key }: IdempotencyKey): string =>
  `request ${JSON.stringify([tenant, endpoint, key])}`;

/** Two requests with a key that nobody has yet both find nothing: the lock on the name lets one go first. */
async function locked(queries: Queries, key: IdempotencyKey): Promise<IdempotencyRecord | null> {
  await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [lockKey(idempotencyLock(key))]);
  return find(queries, `${FIND} FOR UPDATE`, key);
}

async function put(queries: Queries, record: IdempotencyRecord): Promise<void> {
  const { tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at } = record;
  await queries.changed(
    `INSERT INTO cairn.idempotency (tenant, endpoint, key, digest, state, owner, lease_until, status, headers, body, at, run)
       VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::integer, $9::text, $10::text, $11::bigint, NULL)
       ON CONFLICT (tenant, endpoint, key) DO UPDATE SET digest = excluded.digest, state = excluded.state,
         owner = excluded.owner, lease_until = excluded.lease_until, status = excluded.status, headers = excluded.headers,
         body = excluded.body, at = excluded.at, run = NULL`,
    [tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at],
  );
}

export function postgresIdempotency(database: Database): IdempotencyRecords {
  return {
    get: (key) => idempotencyRecord(database.of(key.tenant), key),
    claim: (claim) =>
      database.transaction(async (queries) => {
        const existing = await locked(queries, claim);
        if (existing !== null && !mayClaim(existing, claim)) return existing;
        await put(queries, pendingRecord(claim));
        return null;
      }),
    save: ({ record, owner }) =>
      database.transaction(async (queries) => {
        if (maySave(await locked(queries, record), owner)) await put(queries, record);
      }),
    drop: async ({ tenant, endpoint, key, owner }) => {
      await database.changed(
        `DELETE FROM cairn.idempotency WHERE tenant = $1::text AND endpoint = $2::text AND key = $3::text
           AND state = 'pending' AND owner = $4::text`,
        [tenant, endpoint, key, owner],
      );
    },
    expireSome: (before) =>
      database.changed(
        `DELETE FROM cairn.idempotency WHERE (tenant, endpoint, key) IN (SELECT tenant, endpoint, key
           FROM cairn.idempotency WHERE at < $1::bigint ORDER BY at LIMIT ${EXPIRED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
        [before],
      ),
  };
}
