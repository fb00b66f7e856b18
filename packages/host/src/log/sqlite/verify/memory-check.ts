/** Compares the memories that a run kept and dropped with the events that did so. */
import type { DatabaseSync } from 'node:sqlite';
import { isMemoryRow, type MemoryChange, memoryChanges } from '../../memory-changes.ts';
import type { Row } from '../../ports/rows.ts';
import { scopeReader } from '../memories/memory-tables.ts';
import { query } from '../query.ts';
import type { ReportProblem } from './problem.ts';

type Stored = readonly (string | number | null)[];

export interface MemoryCheck {
  /** A new walk over the own rows of a local run. */
  walk(tenant: string, key: number, report: ReportProblem): { add(row: Row): void; end(): void };
}

export function memoryCheck(db: DatabaseSync): MemoryCheck {
  const scopeOf = scopeReader(db);
  const entry = query<
    [
      cursor: number,
      run: number,
      seq: number,
      turn: string,
      content: string,
      tags: string,
      at: number,
      expiresAt: number | null,
    ]
  >(db, 'SELECT cursor, run, seq, turn, content, tags, at, expires_at FROM memory_entries WHERE scope = ? AND id = ?');
  const drop = query<[cursor: number, run: number, seq: number, turn: string]>(
    db,
    'SELECT cursor, run, seq, turn FROM memory_drops WHERE scope = ? AND id = ?',
  );
  const tag = query<[entry: number]>(db, 'SELECT entry FROM memory_tags WHERE scope = ? AND tag = ? AND entry = ?');
  const count = query<[entries: number, drops: number]>(
    db,
    'SELECT (SELECT count(*) FROM memory_entries WHERE run = ?), (SELECT count(*) FROM memory_drops WHERE run = ?)',
  );
  const expected = (key: number, change: MemoryChange): Stored => {
    const { cursor, seq, turn } = change;
    if (change.kind === 'dropped') return [cursor, key, seq, turn];
    return [cursor, key, seq, turn, change.content, JSON.stringify(change.tags), change.at, change.expiresAt];
  };
  /** Whether the change is in the tables. An earlier change of the same id wins, and then this one is not. */
  const isKept = (tenant: string, key: number, change: MemoryChange): boolean | null => {
    const [scope] = scopeOf.get(tenant, change.memoryRef) ?? [];
    const found: Stored | undefined =
      scope === undefined ? undefined : (change.kind === 'kept' ? entry : drop).get(scope, change.memoryId);
    if (scope === undefined || found === undefined) return null;
    if (Number(found[0]) < change.cursor) return false;
    const isSame = JSON.stringify(found) === JSON.stringify(expected(key, change));
    const tags = change.kind === 'kept' ? change.tags : [];
    return isSame && tags.every((one) => tag.get(scope, one, change.cursor) !== undefined) ? true : null;
  };
  return {
    walk(tenant, key, report) {
      let found = 0;
      return {
        add(row) {
          if (!isMemoryRow(row)) return;
          for (const change of memoryChanges([row])) {
            const kept = isKept(tenant, key, change);
            if (kept === true) found += 1;
            if (kept === null) report(row.seq, `the memory that event ${row.seq} wrote is missing or different`);
          }
        },
        end() {
          const [entries = 0, drops = 0] = count.get(key, key) ?? [];
          if (entries + drops > found) report(null, 'the run has memories that no event wrote');
        },
      };
    },
  };
}
