/** The migration that adds the credentials of users, and sign-ins that are under way. */
import type { Migration } from './migration.ts';

export const credentialTables: Migration = {
  name: 'credentials of users, sealed, and sign-ins that are under way',
  sql: `
    CREATE TABLE credentials (
      ref TEXT PRIMARY KEY,
      tenant TEXT NOT NULL,
      principal TEXT NOT NULL,
      provider TEXT NOT NULL,
      scopes TEXT NOT NULL,
      sealed TEXT NOT NULL,
      expires_at INTEGER,
      stored_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX credentials_of_user ON credentials (tenant, principal);
    CREATE TABLE sign_in_attempts (
      request TEXT PRIMARY KEY,
      state TEXT NOT NULL UNIQUE,
      sealed TEXT NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sign_in_attempts_over ON sign_in_attempts (expires_at);
  `,
};
