/** Makes forks: the run, which rows it shares, its index and its open questions, in one transaction. */
import { invariant, type RunId } from '@cairn/protocol';
import { admit, type FullHead } from '../../admit.ts';
import { checkFork, checkOrigins, forkedHead, forkedIndex, neededBefore } from '../../admit-fork.ts';
import { contextTaken, forkContextTaken, idempotencyRefused } from '../../errors.ts';
import type { Append, ForkRun, OtherFork } from '../../ports/event-log.ts';
import { maySave } from '../../ports/idempotency.ts';
import type { Row } from '../../ports/rows.ts';
import { sourcePurged } from '../../ports/run-purged.ts';
import { Batch, COMMIT } from '../commit/batch.ts';
import type { Committed } from '../commit/committed.ts';
import { Facts, Missing, TenantBytes } from '../commit/facts.ts';
import type { Database, Queries } from '../database.ts';
import { type HeadCache, loadHead } from '../heads.ts';
import { lockKey } from '../lock-key.ts';
import { purgedRun } from '../purged-runs.ts';
import { idempotencyRecord } from '../records/idempotency.ts';
import { findCut } from './cut.ts';
import { before, isPurged, type Stretches, stretchesOf } from './stretches.ts';

interface ForkPorts {
  readonly database: Database;
  readonly heads: HeadCache;
  readonly writer: number;
}

/** A fork and its first own rows, ready to be written. */
interface Planned {
  readonly run: OtherFork;
  readonly head: FullHead;
  readonly shared: Stretches;
  readonly rows: readonly Row[];
}

/** What followers are told: the first own rows of each fork, with their cursors. */
export interface Forked {
  readonly runId: RunId;
  readonly rows: readonly Row[];
  /** The newest cursor of its context before. */
  readonly before: number | null;
}

export async function forkRuns({ database, heads, writer }: ForkPorts, run: ForkRun): Promise<readonly Forked[]> {
  checkOrigins(run);
  const runs: readonly OtherFork[] = [run, ...(run.others ?? [])];
  const forked = await database.transaction(async (queries) => {
    // A purge takes its tree out of the index while nobody forks; two forks of one run never share a context.
    await lock(queries, `purge ${run.tenant}`, false);
    for (const contextId of [...new Set(runs.map((one) => one.contextId))].sort())
      await lock(queries, `fork ${contextId}`, true);
    const planned: Planned[] = [];
    for (const one of runs) planned.push(await plan(queries, one));
    for (const one of run.idempotency ?? []) {
      if (!maySave(await idempotencyRecord(queries, one.record), one.owner)) throw idempotencyRefused(one);
    }
    return write(queries, { planned, writer, run });
  });
  for (const { runId } of runs) heads.forget(runId);
  return forked;
}

async function lock(queries: Queries, name: string, isAlone: boolean): Promise<void> {
  const call = isAlone ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await queries.rows(`SELECT ${call}($1::bigint)::text`, [lockKey(name)]);
}

/** Refuses what cannot be forked, and folds to the cut. */
async function plan(queries: Queries, run: OtherFork): Promise<Planned> {
  const { sourceRunId, fromSeq } = run.fork;
  const source = await loadHead(queries, sourceRunId);
  const purged = source === null ? await purgedRun(queries, sourceRunId) : null;
  if (purged?.tenant === run.tenant) throw sourcePurged(run.fork);
  const stretches = await stretchesOf(queries, sourceRunId);
  const isKnown = (await loadHead(queries, run.runId)) !== null || (await purgedRun(queries, run.runId)) !== null;
  const head = checkFork(run, { source: source?.head ?? null, owners: stretches.length, isKnown });
  if (await isInPurgedTree(queries, sourceRunId)) throw sourcePurged(run.fork);
  if (await isPurged(queries, before(stretches, neededBefore(run.fork)))) throw sourcePurged(run.fork);
  const [[isForeign, isThere] = [false, false]] = await queries.rows<[boolean, boolean]>(
    `SELECT EXISTS (SELECT 1 FROM cairn.runs WHERE context = $1::text AND tenant <> $2::text),
       EXISTS (SELECT 1 FROM cairn.runs WHERE context = $1::text AND origin = $3::text)`,
    [run.contextId, run.tenant, run.originRunId],
  );
  if (isForeign) throw contextTaken(run);
  if (isThere) throw forkContextTaken(run);
  const shared = before(stretches, fromSeq);
  const cut = fromSeq === 0 ? null : await findCut(queries, head.record, shared);
  const start = forkedHead(run, forkedIndex(run, head, cut?.index ?? null), cut?.last ?? null);
  return { run, head: start, shared, rows: [] };
}

/** A purge retires the root of a tree first. Nobody begins to share a run that is about to go. */
async function isInPurgedTree(queries: Queries, runId: RunId): Promise<boolean> {
  const found = await queries.rows(
    `WITH RECURSIVE above (id) AS (
       SELECT parent FROM cairn.runs WHERE id = $1::text AND parent IS NOT NULL
       UNION ALL SELECT r.parent FROM above JOIN cairn.runs r ON r.id = above.id WHERE r.parent IS NOT NULL)
     SELECT 1 FROM above JOIN cairn.purged_runs p ON p.id = above.id LIMIT 1`,
    [runId],
  );
  return found.length > 0;
}

interface Plan {
  readonly planned: readonly Planned[];
  readonly writer: number;
  readonly run: ForkRun;
}

async function write(queries: Queries, { planned, writer, run }: Plan): Promise<readonly Forked[]> {
  const batch = new Batch();
  const facts = new Facts(new TenantBytes());
  const admitted: { readonly runId: RunId; readonly rows: readonly Row[] }[] = [];
  for (const { run: one, head } of planned) {
    batch.begin(one.runId, head, one === run ? run.idempotency : undefined);
    const { rows = [], runId } = one;
    if (rows.length === 0) continue;
    const append: Append = { runId, rows, at: one.fork.fromSeq };
    const first = await admitSurely(queries, facts, () => admit(append, head, 0, facts));
    batch.add(append, first, { before: null, relied: facts.relied });
    admitted.push({ runId, rows: first.rows });
  }
  const [[text] = ['{}']] = await queries.rows<[string]>(COMMIT, batch.arguments({ writer, isAll: true }));
  const committed: Committed = JSON.parse(text);
  const placeOf = (runId: RunId): number => batch.groups.get(runId)?.place ?? -1;
  for (const { run: one, shared } of planned) {
    const key = committed.runs[placeOf(one.runId)];
    invariant(typeof key === 'number', 'fork-is-created', { runId: one.runId });
    await share(queries, { key, run: one, shared });
  }
  let next = 0;
  return admitted.map(({ runId, rows }) => ({
    runId,
    rows: rows.map((row) => ({ ...row, cursor: committed.cursors?.[next++] ?? 0 })),
    before: committed.befores[placeOf(runId)] ?? null,
  }));
}

/** Loads what the guards ask for within the transaction. */
export async function admitSurely<Admitted>(
  queries: Queries,
  facts: Facts,
  admitting: () => Admitted,
): Promise<Admitted> {
  facts.isSure = true;
  facts.relied = { deadOwner: null, edition: null, aloneIn: null };
  for (;;) {
    try {
      return admitting();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await error.load(queries);
    }
  }
}

/** Notes which rows a fork shares, and gives it the artifacts among them. */
async function share(
  queries: Queries,
  { key, run, shared }: { readonly key: number; readonly run: OtherFork; readonly shared: Stretches },
): Promise<void> {
  for (const { owner, from, through } of shared) {
    await queries.changed(
      'INSERT INTO cairn.shared_rows (run, from_seq, through, owner) VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint)',
      [key, from, through, owner],
    );
  }
  // The last run first: it may have completed what the run before it had open at its cut.
  for (const { owner, through } of shared.toReversed()) {
    const values = [run.contextId, key, owner, through];
    await queries.changed(
      `INSERT INTO cairn.artifacts SELECT $1::text, id, version, family, $2::bigint, NULL, NULL, state, first_seq, last_seq,
           pieces, size, name, mime, updated_at
         FROM cairn.artifacts WHERE run = $3::bigint AND state = 'complete' AND last_seq < $4::bigint ON CONFLICT DO NOTHING`,
      values,
    );
    if (run.fork.mode !== 'branch') continue;
    await queries.changed(
      `INSERT INTO cairn.artifacts SELECT $1::text, id, version, family, $2::bigint, NULL, NULL, 'cut', first_seq, first_seq, 1,
           0, name, mime, 0
         FROM cairn.artifacts WHERE run = $3::bigint AND pieces > 0 AND first_seq < $4::bigint
           AND NOT (state = 'complete' AND last_seq < $4::bigint) ON CONFLICT DO NOTHING`,
      values,
    );
  }
}
