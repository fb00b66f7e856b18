/** Credentials in SQLite: few small rows, written when a user signs in or a token is refreshed. */
import type { Credentials, SignInAttempt } from '../ports/credentials.ts';
import { CREDENTIAL_COLUMNS, type CredentialColumns, credentialOf } from '../record-columns.ts';
import type { Connection } from './connection.ts';
import { query } from './query.ts';

export function sqliteCredentials(connection: Connection): Credentials {
  const { db, writer, read } = connection;
  const put = db.prepare(`INSERT OR REPLACE INTO credentials (${CREDENTIAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const one = query<CredentialColumns>(db, `SELECT ${CREDENTIAL_COLUMNS} FROM credentials WHERE ref = ?`);
  const ofUser = query<CredentialColumns>(
    db,
    `SELECT ${CREDENTIAL_COLUMNS} FROM credentials WHERE tenant = ? AND principal = ? ORDER BY provider`,
  );
  const drop = db.prepare('DELETE FROM credentials WHERE tenant = ? AND principal = ? AND ref = ?');
  return {
    put: (record) =>
      writer.submit({
        rows: 1,
        bytes: record.sealed.length,
        apply: () => {
          const { ref, tenant, principal, provider, scopes, sealed, expiresAt, storedAt } = record;
          put.run(ref, tenant, principal, provider, JSON.stringify(scopes), sealed, expiresAt, storedAt);
        },
      }),
    get: async (ref) =>
      read(() => {
        const found = one.get(ref);
        return found === undefined ? null : credentialOf(found);
      }),
    list: async (tenant, principal) => read(() => ofUser.all(tenant, principal).map(credentialOf)),
    drop: ({ tenant, principal, ref }) =>
      writer.submit({ rows: 1, bytes: 0, apply: () => Number(drop.run(tenant, principal, ref).changes) > 0 }),
    ...attemptsIn(connection),
  };
}

function attemptsIn({ db, writer }: Connection): Pick<Credentials, 'begin' | 'take'> {
  // A few, so that no sign-in waits for the leavings of thousands.
  const over = db.prepare(
    'DELETE FROM sign_in_attempts WHERE request IN (SELECT request FROM sign_in_attempts WHERE expires_at <= ? LIMIT 64)',
  );
  const begin = db.prepare(
    'INSERT OR REPLACE INTO sign_in_attempts (request, state, sealed, expires_at) VALUES (?, ?, ?, ?)',
  );
  const found = query<[request: string, sealed: string, expiresAt: number]>(
    db,
    'SELECT request, sealed, expires_at FROM sign_in_attempts WHERE state = ?',
  );
  const remove = db.prepare('DELETE FROM sign_in_attempts WHERE state = ?');
  return {
    begin: ({ request, state, sealed, expiresAt }, now) =>
      writer.submit({
        rows: 1,
        bytes: sealed.length,
        apply: () => {
          over.run(now);
          begin.run(request, state, sealed, expiresAt);
        },
      }),
    // One job, so that of two callers with the same state only the first finds it.
    take: (state, now) =>
      writer.submit({
        rows: 1,
        bytes: 0,
        apply: (): SignInAttempt | null => {
          const [request, sealed, expiresAt] = found.get(state) ?? ['', '', 0];
          remove.run(state);
          return expiresAt > now ? { state, request, sealed, expiresAt } : null;
        },
      }),
  };
}
