/** Brings a database to the current schema, one node at a time. A database from a newer program is rejected. */
import { TerminalError } from '@cairn/protocol';
import type { Database, Queries } from './database.ts';
import { type Migration, migrations } from './schema/migrations.ts';

/** Any number that nothing else in the database locks: the letters "cairn". */
const MIGRATION_LOCK = 0x63616972;

/** Between two statements of a migration. A machine that is gone by then would keep tables locked for hours. */
const IDLE = '60s';

export interface PostgresMigrated {
  /** The migrations that were applied now, by name. */
  readonly applied: readonly string[];
  readonly version: number;
}

/** All missing migrations are one transaction, so that a failed one leaves the schema as it was. `known`: up to an older one. */
export function migratePostgres(
  database: Database,
  known: readonly Migration[] = migrations,
): Promise<PostgresMigrated> {
  return database.transaction(async (queries) => {
    await queries.changed(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE}'`);
    await queries.rows('SELECT pg_advisory_xact_lock($1::bigint)::text', [MIGRATION_LOCK]);
    const version = await versionOf(queries);
    refuseNewer(database.place, version);
    if (version === 0) {
      await queries.changed('CREATE SCHEMA IF NOT EXISTS cairn');
      await queries.changed('CREATE TABLE cairn.migrations (number integer PRIMARY KEY, name text NOT NULL)');
    }
    const missing = known.map(({ name, sql }, place) => ({ name, sql, number: place + 1 })).slice(version);
    for (const { number, name, sql } of missing) {
      for (const statement of statementsOf(sql)) await queries.changed(statement);
      await queries.changed('INSERT INTO cairn.migrations VALUES ($1::integer, $2::text)', [number, name]);
    }
    return { applied: missing.map(({ name }) => name), version: known.length };
  });
}

/** Throws unless the schema is the one that this program needs, and statements see what was committed before them. */
export async function checkSchema(database: Database): Promise<void> {
  await checkIsolation(database);
  const version = await versionOf(database);
  refuseNewer(database.place, version);
  if (version === migrations.length) return;
  throw new TerminalError('store_failed', {
    message: `The database ${database.place} has schema version ${version}; this program needs ${migrations.length}.`,
    hint: 'Run "cairn migrate" with the same store.',
    details: { version, known: migrations.length },
  });
}

/**
 * A function of the log reads what is under way and then what was written. With another default, both would be as of its
 * beginning, and a reader would pass over what was committed in between.
 */
async function checkIsolation(database: Database): Promise<void> {
  const [[isolation] = ['']] = await database.rows<[string]>("SELECT current_setting('transaction_isolation')");
  if (isolation === 'read committed') return;
  throw new TerminalError('store_failed', {
    message: `Transactions of the database ${database.place} are ${isolation} by default; this program needs read committed.`,
    hint: "ALTER ROLE the user of the store SET default_transaction_isolation = 'read committed', then start again.",
    details: { isolation },
  });
}

async function versionOf(queries: Queries): Promise<number> {
  const [[table] = [null]] = await queries.rows<[string | null]>("SELECT to_regclass('cairn.migrations')::text");
  if (table === null) return 0;
  const [[version] = [0]] = await queries.rows<[number]>(
    'SELECT coalesce(max(number), 0)::integer FROM cairn.migrations',
  );
  return version;
}

function refuseNewer(place: string, version: number): void {
  if (version <= migrations.length) return;
  throw new TerminalError('store_newer', {
    message: `The database ${place} has version ${version}; this program knows versions up to ${migrations.length}.`,
    hint: 'Start the newer program that wrote it, or restore a backup from before the upgrade.',
    details: { version, known: migrations.length },
  });
}

/** A prepared statement is one statement. Bodies of functions hold semicolons between dollar signs. */
function statementsOf(sql: string): readonly string[] {
  const statements: string[] = [];
  let text = '';
  sql.split('$$').forEach((part, place) => {
    if (place % 2 === 1) {
      text += `$$${part}$$`;
      return;
    }
    const [first = '', ...others] = part.split(';');
    text += first;
    for (const other of others) {
      if (text.trim() !== '') statements.push(text);
      text = other;
    }
  });
  if (text.trim() !== '') statements.push(text);
  return statements;
}
