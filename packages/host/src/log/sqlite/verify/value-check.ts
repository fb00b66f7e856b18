/** Checks what the table of events holds beside a row: its references to large values, and the counted bytes. */
import { hash as digest } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { ROW_OVERHEAD_BYTES } from '../../ports/row-bytes.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

type CutColumns = [seq: number, cuts: string | null, bytes: number | null, kept: number, audience: number];

export function valueCheck(db: DatabaseSync): (key: number, report: ReportProblem) => void {
  const odd = query<CutColumns>(
    db,
    `SELECT seq, cuts, bytes, octet_length(payload) + coalesce(octet_length(task), 0), audience FROM events
       WHERE run = ? AND (cuts IS NOT NULL OR bytes IS NOT NULL OR audience NOT IN (0, 1)) ORDER BY seq`,
  );
  const value = query<[run: number, bytes: number]>(
    db,
    'SELECT run, octet_length(body) FROM large_values WHERE key = ?',
  );
  const values = query<[key: number, hash: Uint8Array<ArrayBuffer>, body: string]>(
    db,
    'SELECT key, hash, body FROM large_values WHERE run = ?',
  );
  return (key, report) => {
    const used = new Set<number>();
    for (const [seq, cuts, bytes, kept, audience] of odd.iterate(key)) {
      if (audience !== 0 && audience !== 1) report(seq, `event ${seq} is for the unknown audience ${audience}`);
      const places = cuts === null ? [] : placesOf(cuts);
      if (places === null) {
        report(seq, `event ${seq} refers to large values in a way that no host writes`);
        continue;
      }
      let whole = ROW_OVERHEAD_BYTES + kept;
      for (const place of places) {
        const [run, size] = value.get(place) ?? [];
        used.add(place);
        if (run === key && size !== undefined) whole += size;
        else report(seq, `event ${seq} refers to the large value ${place}, which the run does not have`);
      }
      // A large row without large values is whole, and keeps the number all the same.
      if (bytes !== whole && (bytes !== null || cuts !== null))
        report(seq, `event ${seq} has another size than the table says`);
    }
    for (const [place, hash, body] of values.iterate(key)) {
      if (!used.has(place)) report(null, `no event refers to the large value ${place}`);
      if (!digest('sha256', body, 'buffer').equals(hash))
        report(null, `the large value ${place} does not match its hash`);
    }
  };
}

/** The keys of the missing values; null for a text that no host writes. */
function placesOf(cuts: string): readonly number[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(cuts);
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length !== 2 || JSON.stringify(parsed) !== cuts) return null;
  const numbers: unknown[] = parsed.flat();
  if (numbers.length % 2 !== 0) return null;
  return numbers.flatMap((number, i) => (i % 2 === 1 && typeof number === 'number' ? [number] : []));
}
