/** Expiring records in Postgres: few small rows, read at each use of a session or token. */
import type { ExpiringKey, ExpiringRecord, ExpiringRecords } from '../../ports/expiring.ts';
import type { Database, Queries } from '../database.ts';
import { lockKey } from '../lock-key.ts';

type Columns = [owner: string, body: string, expiresAt: number];

async function find(queries: Queries, sql: string, { kind, name }: ExpiringKey, now: number) {
  const [found] = await queries.rows<Columns>(sql, [kind, name, now]);
  if (found === undefined) return null;
  const [owner, body, expiresAt] = found;
  return { kind, name, owner, body, expiresAt } satisfies ExpiringRecord;
}

const GIVEN = 'kind = $1::text AND name = $2::text AND expires_at > $3::double precision';

export function postgresExpiring(database: Database): ExpiringRecords {
  return {
    put: ({ kind, name, owner, body, expiresAt }, { now, maxOfOwner }) =>
      database.transaction(async (queries) => {
        // Two records of one owner would each count without the other.
        await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [lockKey(`expiring ${kind} ${owner}`)]);
        await queries.changed('DELETE FROM cairn.expiring WHERE expires_at <= $1::double precision', [now]);
        await queries.changed('DELETE FROM cairn.expiring WHERE kind = $1::text AND name = $2::text', [kind, name]);
        await queries.changed(
          `INSERT INTO cairn.expiring (kind, name, owner, body, expires_at)
             VALUES ($1::text, $2::text, $3::text, $4::text, $5::double precision)`,
          [kind, name, owner, body, expiresAt],
        );
        await queries.changed(
          `DELETE FROM cairn.expiring WHERE place IN (
             SELECT place FROM cairn.expiring WHERE kind = $1::text AND owner = $2::text
               ORDER BY expires_at DESC, place DESC OFFSET $3::integer)`,
          [kind, owner, maxOfOwner],
        );
      }),
    get: (key, now) => find(database, `SELECT owner, body, expires_at FROM cairn.expiring WHERE ${GIVEN}`, key, now),
    take: (key, now) =>
      find(database, `DELETE FROM cairn.expiring WHERE ${GIVEN} RETURNING owner, body, expires_at`, key, now),
    async count(kind, owner, now) {
      const [[count] = [0]] = await database.rows<[number]>(
        `SELECT count(*) FROM cairn.expiring
           WHERE kind = $1::text AND owner = $2::text AND expires_at > $3::double precision`,
        [kind, owner, now],
      );
      return count;
    },
  };
}
