/** Credentials in Postgres: few small rows, written when a user signs in or a token is refreshed. */
import type { Credentials } from '../../ports/credentials.ts';
import { CREDENTIAL_COLUMNS, type CredentialColumns, credentialOf } from '../../record-columns.ts';
import type { Database } from '../database.ts';

export function postgresCredentials(database: Database): Credentials {
  return {
    put: async ({ ref, tenant, principal, provider, scopes, sealed, expiresAt, storedAt }) => {
      await database.changed(
        `INSERT INTO cairn.credentials (${CREDENTIAL_COLUMNS})
           VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::bigint)
           ON CONFLICT (ref) DO UPDATE SET tenant = excluded.tenant, principal = excluded.principal,
             provider = excluded.provider, scopes = excluded.scopes, sealed = excluded.sealed,
             expires_at = excluded.expires_at, stored_at = excluded.stored_at`,
        [ref, tenant, principal, provider, JSON.stringify(scopes), sealed, expiresAt, storedAt],
      );
    },
    get: async (ref) => {
      const [found] = await database.rows<CredentialColumns>(
        `SELECT ${CREDENTIAL_COLUMNS} FROM cairn.credentials WHERE ref = $1::text`,
        [ref],
      );
      return found === undefined ? null : credentialOf(found);
    },
    list: async (tenant, principal) => {
      const found = await database.rows<CredentialColumns>(
        `SELECT ${CREDENTIAL_COLUMNS} FROM cairn.credentials WHERE tenant = $1::text AND principal = $2::text ORDER BY provider`,
        [tenant, principal],
      );
      return found.map(credentialOf);
    },
    drop: async ({ tenant, principal, ref }) => {
      const dropped = await database.changed(
        'DELETE FROM cairn.credentials WHERE tenant = $1::text AND principal = $2::text AND ref = $3::text',
        [tenant, principal, ref],
      );
      return dropped > 0;
    },
    ...attemptsIn(database),
  };
}

function attemptsIn(database: Database): Pick<Credentials, 'begin' | 'take'> {
  return {
    begin: async ({ request, state, sealed, expiresAt }, now) => {
      await database.changed('DELETE FROM cairn.sign_in_attempts WHERE expires_at <= $1::bigint OR state = $2::text', [
        now,
        state,
      ]);
      await database.changed(
        `INSERT INTO cairn.sign_in_attempts (request, state, sealed, expires_at)
           VALUES ($1::text, $2::text, $3::text, $4::bigint)
           ON CONFLICT (request) DO UPDATE SET state = excluded.state, sealed = excluded.sealed,
             expires_at = excluded.expires_at`,
        [request, state, sealed, expiresAt],
      );
    },
    // One statement, so that of two callers with the same state only the first finds it.
    take: async (state, now) => {
      const [found] = await database.rows<[request: string, sealed: string, expiresAt: number]>(
        'DELETE FROM cairn.sign_in_attempts WHERE state = $1::text RETURNING request, sealed, expires_at',
        [state],
      );
      if (found === undefined || found[2] <= now) return null;
      const [request, sealed, expiresAt] = found;
      return { state, request, sealed, expiresAt };
    },
  };
}
