/** Imports a run with all of its rows in one transaction, or nothing. */
import type { RunId } from '@cairn/protocol';
import { admitImported, importedHead } from '../../admit.ts';
import { chunksOf } from '../../chunks-of.ts';
import { contextTaken, importMismatch, runExists } from '../../errors.ts';
import type { ImportRun } from '../../ports/event-log.ts';
import type { NewRow } from '../../ports/rows.ts';
import { runPurged } from '../../ports/run-purged.ts';
import { Batch, COMMIT } from '../commit/batch.ts';
import type { Committed } from '../commit/committed.ts';
import { contextTenant, Facts, TenantBytes } from '../commit/facts.ts';
import type { Database, Queries } from '../database.ts';
import { loadHead, type StoredHead } from '../heads.ts';
import { purgedRun } from '../purged-runs.ts';
import { admitSurely } from './fork.ts';

/** Rows of an import held in memory at once. */
const IMPORT_CHUNK = 200;

/** The rows can be read only once, so that the transaction is not repeated. */
export function importRun(database: Database, writer: number, run: ImportRun, rows: Iterable<NewRow>): Promise<void> {
  return database.transaction(async (queries) => {
    await refuse(queries, run);
    const facts = new Facts(new TenantBytes());
    let stored: StoredHead | null = null;
    let head = importedHead(run, run.importedAt);
    for (const chunk of chunksOf(rows, IMPORT_CHUNK)) {
      if (stored === null) head = importedHead(run, chunk[0]?.at ?? run.importedAt);
      const previous = head;
      const admitted = await admitSurely(queries, facts, () => admitImported(previous, chunk, 0, facts));
      head = admitted.head;
      const batch = new Batch();
      if (stored === null) batch.begin(run.runId, previous);
      const append = { runId: run.runId, rows: chunk };
      batch.add(append, { ...admitted, memories: [] }, { before: stored, relied: facts.relied });
      const key = await commit(queries, batch, writer, run.runId);
      stored = { key, head };
    }
    if (stored === null || head.seq !== run.seq || head.hash !== run.hash) throw importMismatch(run, head);
  }, 1);
}

async function refuse(queries: Queries, run: ImportRun): Promise<void> {
  if ((await loadHead(queries, run.runId)) !== null) throw runExists(run.runId);
  const purged = await purgedRun(queries, run.runId);
  if (purged !== null) throw purged.tenant === run.tenant ? runPurged(purged) : runExists(run.runId);
  const [foreign] = await queries.rows(
    'SELECT 1 FROM cairn.runs WHERE context = $1::text AND tenant <> $2::text LIMIT 1',
    [run.contextId, run.tenant],
  );
  if (foreign !== undefined || ((await contextTenant(queries, run.contextId)) ?? run.tenant) !== run.tenant)
    throw contextTaken(run);
}

async function commit(queries: Queries, batch: Batch, writer: number, runId: RunId): Promise<number> {
  const [[text] = ['{}']] = await queries.rows<[string]>(COMMIT, batch.arguments({ writer, isAll: true }));
  const committed: Committed = JSON.parse(text);
  const key = committed.runs[0];
  if (typeof key !== 'number') throw runExists(runId);
  return key;
}
