/** Checks a PostgreSQL database: the way to it, its version and schema, its nodes, and its index. */
import { performance } from 'node:perf_hooks';
import { connect, Database } from '../log/postgres/database.ts';
import { checkSchema } from '../log/postgres/migrate.ts';
import { refuseHalfMoved } from '../log/postgres/records/store-facts.ts';
import { openPostgresStore } from '../log/postgres/store.ts';
import { check, type Finding } from './doctor-finding.ts';
import { rebuiltFaces, rebuiltIndex } from './doctor-rebuilds.ts';
import { usageError } from './usage-error.ts';

/** Nothing newer is used (`server_version_num`). */
const OLDEST = 140_000;

const LISTED_RUNS = 20;

export interface DatabaseChecks {
  readonly url: string;
  readonly now: number;
  readonly rebuild: boolean;
  readonly compact: boolean;
}

export async function databaseFindings({ url, now, rebuild, compact }: DatabaseChecks): Promise<readonly Finding[]> {
  if (compact)
    throw usageError(
      'PostgreSQL gives space back by itself, so --compact is for data folders only.',
      'Autovacuum reuses the space of removed rows. "VACUUM FULL" or pg_repack return it to the disk.',
    );
  const pool = connect({ url, connections: 1 });
  try {
    const database = new Database(pool);
    const reached = await check('database', () => databaseFinding(database));
    if (reached.state === 'bad') return [reached];
    const schema = await check('schema', () => schemaFinding(database));
    if (schema.state === 'bad') return [reached, schema];
    const found = [reached, schema, await check('size', () => sizeFinding(database))];
    found.push(await check('nodes', () => nodesFinding(database, now)), ...(await quarantineFindings(database)));
    if (rebuild) found.push(...(await rebuilds(url)));
    return found;
  } finally {
    await pool.end();
  }
}

async function databaseFinding(database: Database): Promise<Finding> {
  const [[version, number, encoding] = ['', 0, '']] = await database.rows<[string, number, string]>(
    `SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
       current_setting('server_encoding')`,
  );
  const text = `${database.place}: PostgreSQL ${version}, ${encoding}`;
  if (encoding !== 'UTF8') return { subject: 'database', state: 'bad', text, hint: 'Create a database with UTF8.' };
  if (number >= OLDEST) return { subject: 'database', state: 'good', text };
  return { subject: 'database', state: 'bad', text, hint: 'Use PostgreSQL 14 or later.' };
}

async function schemaFinding(database: Database): Promise<Finding> {
  await checkSchema(database);
  await refuseHalfMoved(database);
  return { subject: 'schema', state: 'good', text: 'of this version' };
}

/** Events are counted by the planner: to count them would read them all. */
async function sizeFinding(database: Database): Promise<Finding> {
  const [[runs, events, bytes] = [0, 0, 0]] = await database.rows<[number, number, number]>(
    `SELECT (SELECT count(*) FROM cairn.heads), (SELECT greatest(reltuples, 0)::bigint FROM pg_class
       WHERE oid = 'cairn.events'::regclass), pg_database_size(current_database())`,
  );
  return {
    subject: 'size',
    state: 'good',
    text: `runs: ${runs}, events: about ${events}, ${(bytes / 1_048_576).toFixed(1)} MiB`,
  };
}

async function nodesFinding(database: Database, now: number): Promise<Finding> {
  const [[nodes] = [0]] = await database.rows<[number]>('SELECT count(*) FROM cairn.nodes WHERE until > $1::bigint', [
    now,
  ]);
  const text = nodes === 0 ? 'no node runs' : `running: ${nodes}`;
  return { subject: 'nodes', state: 'good', text };
}

async function quarantineFindings(database: Database): Promise<readonly Finding[]> {
  const runs = await database.rows<[string]>(
    `SELECT id FROM cairn.runs WHERE error_code = 'run_quarantined' ORDER BY key LIMIT ${LISTED_RUNS}`,
  );
  if (runs.length === 0) return [];
  const text = `a node died while it decided ${runs.map(([id]) => id).join(', ')}${runs.length < LISTED_RUNS ? '' : ' and perhaps more'}`;
  const hint = 'Their events show what came last. Change the workflow or the inputs before you start them again.';
  return [{ subject: 'quarantine', state: 'doubtful', text, hint }];
}

/** Each run is locked while it is compared, so that nodes may go on. */
async function rebuilds(url: string): Promise<readonly Finding[]> {
  const open = () => openPostgresStore({ url, connections: 1, elapsedMs: () => performance.now() });
  return [await check('index', () => rebuiltIndex(open)), await check('task view', () => rebuiltFaces(open))];
}
