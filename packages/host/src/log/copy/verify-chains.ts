/** Walks the hash chain of every run in a Postgres store: each event is hashed again. */
import { type RunId, TerminalError } from '@cairn/protocol';
import { ChainWalk, type WalkedRow } from '../chain-walk.ts';
import type { Queries } from '../postgres/database.ts';
import { PAGE_BYTES, PAGE_ROWS } from './copied-table.ts';

type RunPlace = [
  key: number,
  runId: RunId,
  originRunId: RunId,
  seq: number,
  hash: string,
  sharedSeq: number | null,
  sharedHash: string | null,
  sharedAt: number | null,
];

/** Runs and purged runs after a key, with the last row that a fork shares with its source. */
const RUNS = `SELECT r.key, r.id, r.origin, r.seq, r.hash, shared.seq, shared.hash, shared.at FROM (
    SELECT runs.key, id, origin, heads.seq, heads.hash FROM cairn.runs JOIN cairn.heads ON heads.run = runs.key
      WHERE runs.key > $1::bigint
    UNION ALL SELECT key, id, origin, seq, hash FROM cairn.purged_runs WHERE key > $1::bigint
    ORDER BY 1 LIMIT ${PAGE_ROWS}) r
  LEFT JOIN LATERAL (SELECT s.owner, s.through - 1 AS seq FROM cairn.shared_rows s WHERE s.run = r.key
    ORDER BY s.through DESC LIMIT 1) last ON true
  LEFT JOIN LATERAL (
    SELECT e.seq, e.hash, e.at FROM cairn.events e WHERE e.run = last.owner AND e.seq = last.seq
    UNION ALL SELECT t.seq, t.hash, t.at FROM cairn.tombstones t WHERE t.run = last.owner AND t.seq = last.seq) shared ON true
  ORDER BY r.key`;

type RowColumns = [
  run: number,
  seq: number,
  at: number,
  type: string,
  nodeId: string | null,
  cause: string | null,
  audience: number,
  payload: string | null,
  rowHash: string,
  hash: string,
];

const PLACE = 'run, seq, at, type, node, cause, audience';
const AFTER = `(run, seq) > ($1::bigint, $2::bigint) AND run <= $3::bigint ORDER BY run, seq LIMIT ${PAGE_ROWS}`;

/** Rows of runs, as many as fit on a page. */
const ROWS = `SELECT ${PLACE}, payload, row_hash, hash FROM (
    SELECT u.*, sum(u.size) OVER (ORDER BY u.run, u.seq) - u.size AS before FROM (
      (SELECT ${PLACE}, payload, row_hash, hash, payload_size AS size FROM cairn.events WHERE ${AFTER})
      UNION ALL (SELECT ${PLACE}, NULL, row_hash, hash, 0 FROM cairn.tombstones WHERE ${AFTER})
      ORDER BY 1, 2 LIMIT ${PAGE_ROWS}) u) page
  WHERE before < ${PAGE_BYTES} ORDER BY run, seq`;

export interface VerifiedPage {
  readonly runs: number;
  readonly events: number;
  /** The key of the last verified run; null if there was none. */
  readonly last: number | null;
}

/** Verifies the runs after a key, as many as fit on a page. Throws at the first event that is not as it was written. */
export async function verifySome(queries: Queries, place: string, after: number): Promise<VerifiedPage> {
  const runs = await queries.rows<RunPlace>(RUNS, [after]);
  const last = runs.at(-1)?.[0] ?? null;
  if (last === null) return { runs: 0, events: 0, last };
  const walks = new Map(runs.map((run) => [run[0], walkOf(run)]));
  const idOf = new Map(runs.map(([key, runId]) => [key, runId]));
  let events = 0;
  for (let at: readonly [number, number] = [after, Number.MAX_SAFE_INTEGER]; ; ) {
    const rows = await queries.rows<RowColumns>(ROWS, [...at, last]);
    for (const row of rows) {
      const [key] = row;
      const wrong = walks.get(key)?.add(walked(row)) ?? (walks.has(key) ? null : 'it belongs to no run');
      if (wrong !== null) throw broken(place, idOf.get(key) ?? `with the key ${key}`, wrong);
    }
    events += rows.length;
    const end = rows.at(-1);
    if (end === undefined) break;
    at = [end[0], end[1]];
  }
  for (const [key, runId, , seq, hash] of runs) {
    const walk = walks.get(key);
    if (walk?.next === seq + 1 && walk.hash === hash) continue;
    throw broken(place, runId, `it ends with event ${(walk?.next ?? 0) - 1}, but its head says with event ${seq}`);
  }
  return { runs: runs.length, events, last };
}

function walkOf([, , originRunId, , , seq, hash, at]: RunPlace): ChainWalk {
  if (seq === null || hash === null || at === null) return new ChainWalk(originRunId);
  return new ChainWalk(originRunId, { seq, hash, at });
}

const walked = ([, seq, at, type, nodeId, cause, audience, payload, rowHash, hash]: RowColumns): WalkedRow => ({
  seq,
  at,
  type,
  nodeId,
  cause: cause === null ? null : JSON.parse(cause),
  audience: audience === 0 ? 'client' : 'operator',
  payload,
  rowHash,
  hash,
});

const broken = (place: string, runId: string, wrong: string): TerminalError =>
  new TerminalError('store_corrupt', {
    message: `${place}: run ${runId}: ${wrong}.`,
    hint: 'Check the data folder with "cairn verify". Nothing in it was changed.',
    details: { runId },
  });
