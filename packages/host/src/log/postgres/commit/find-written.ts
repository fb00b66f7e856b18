/** Finds what a commit wrote whose answer was lost with the connection: the hash of a row tells whose it is. */
import type { RunId } from '@cairn/protocol';
import type { Queries } from '../database.ts';
import type { Admission } from './admission.ts';
import type { Committed } from './committed.ts';

type Found = [runId: RunId, key: number, seq: number, hash: string, cursor: number];

/** The batch was sent again and some groups were refused. Those whose rows are there were written the first time. */
export async function findWritten(queries: Queries, admission: Admission, committed: Committed): Promise<Committed> {
  const failed = new Set(committed.failed);
  const groups = [...admission.batch.groups.values()].filter(({ place }) => failed.has(place));
  const spans = groups.map(({ runId, head }) => {
    const rows = admission.admitted.filter(({ job }) => job.append.runId === runId).flatMap((one) => one.rows);
    return { id: runId, f: rows[0]?.seq ?? head.seq, l: head.seq };
  });
  const found = await queries.rows<Found>(
    `SELECT r.id, r.key, e.seq, e.hash, e.cursor FROM jsonb_to_recordset($1::text::jsonb) AS x (id text, f bigint, l bigint)
       JOIN cairn.runs r ON r.id = x.id JOIN cairn.events e ON e.run = r.key AND e.seq BETWEEN x.f AND x.l`,
    [JSON.stringify(spans)],
  );
  const at = new Map(found.map(([runId, key, seq, hash, cursor]) => [`${runId} ${seq}`, { key, hash, cursor }]));
  const runs = [...committed.runs];
  for (const { place, runId, head } of groups) {
    const last = at.get(`${runId} ${head.seq}`);
    if (last === undefined || last.hash !== head.hash) continue;
    failed.delete(place);
    runs[place] = last.key;
  }
  const written = [...(committed.cursors ?? [])];
  const cursors: number[] = [];
  const again = new Set(committed.failed);
  for (const { job, rows } of admission.admitted) {
    const { runId } = job.append;
    const place = admission.batch.groups.get(runId)?.place ?? -1;
    if (failed.has(place)) continue;
    for (const { seq } of rows)
      cursors.push(again.has(place) ? (at.get(`${runId} ${seq}`)?.cursor ?? 0) : (written.shift() ?? 0));
  }
  const befores = committed.befores.map((before, place) => (again.has(place) ? null : before));
  return { ...committed, failed: [...failed], cursors, runs, befores };
}
