/** A database with many resting runs, written by SQL: half wait for an answer, half for a time that is far away. */
import { connect, Database } from '../../packages/host/src/log/postgres/database.ts';
import { openMeasuredPostgres } from '../measured-store.ts';

/** After every instant of a measurement. */
const FAR = 4_000_000_000_000;
const AT = 1_700_000_000_000;

/** Runs beside them that are due now, of several tenants. */
export const DUE = 64;

const RUNS = `INSERT INTO cairn.runs (id, tenant, context, context_key, origin, workflow, definition, status, tags, created_at,
    summary)
  SELECT 'run_' || n, 'tenant-' || n % 10, 'ctx_' || n, n, 'run_' || n, 'main', 'd', 'waiting-input', '[]', ${AT} + n, '{}'
    FROM generate_series(1, $1::integer) n`;

const HEADS = `INSERT INTO cairn.heads (run, tenant, seq, hash, at, fence, owner, wake_at, is_over)
  SELECT key, tenant, 1, repeat('0', 64), created_at, 1, NULL,
    CASE WHEN key <= ${DUE} THEN ${AT} WHEN key % 2 = 0 THEN ${FAR} + key END, false
  FROM cairn.runs`;

/** An empty database gets runs that rest, and a few that are due. */
export async function restingRuns(url: string, count: number): Promise<void> {
  await (await openMeasuredPostgres(url)).close();
  const pool = connect({ url, connections: 1 });
  try {
    const database = new Database(pool);
    // Indexes are built faster than they grow.
    const indexes = await database.rows<[name: string, definition: string]>(
      `SELECT c.relname::text, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid IN ('cairn.runs'::regclass, 'cairn.heads'::regclass)
           AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = c.oid)`,
    );
    for (const [name] of indexes) await database.changed(`DROP INDEX cairn.${name}`);
    await database.changed(RUNS, [count]);
    await database.changed(HEADS);
    for (const [, definition] of indexes) await database.changed(definition);
    // As autovacuum does it on a server that has had these runs for a while.
    for (const table of ['runs', 'heads']) await database.changed(`VACUUM ANALYZE cairn.${table}`);
  } finally {
    await pool.end();
  }
}
