/** Two reads that skip what is another tenant's: chosen rows of the whole log, and questions that wait. Each looks at a bounded part. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ContextId, RunId } from '@cairn/protocol';
import type { Changes, ChosenRows, EventLog } from '../ports/event-log.ts';
import type { Row } from '../ports/rows.ts';
import type { PendingPage, PendingQuery } from '../ports/run-index.ts';
import { parseListCursor } from '../refusals.ts';
import { EVENT_COLUMNS, INTERRUPT_COLUMNS, interruptOf, rowOf } from './columns.ts';

type Columns = readonly unknown[];

/** Open interrupts of all tenants that are looked at for one page. */
const LOOKED_AT = 2_000;

export class ChosenReader {
  readonly #rows: StatementSync;
  readonly #end: StatementSync;
  readonly #pending: StatementSync;
  readonly #lastLookedAt: StatementSync;

  constructor(db: DatabaseSync) {
    const arrays = (sql: string): StatementSync => {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    // CROSS JOIN keeps the order: a range of the log, never all that a tenant ever wrote.
    this.#rows = arrays(
      `SELECT run_id, context, ${EVENT_COLUMNS} FROM events
       CROSS JOIN (SELECT key, id AS run_id, context, tenant, imported_at FROM runs) AS whose ON whose.key = events.run
       WHERE cursor > ? AND cursor <= ? AND type IN (SELECT value FROM json_each(?)) AND audience = 0
         AND whose.tenant = ? AND whose.imported_at IS NULL ORDER BY cursor`,
    );
    this.#end = arrays('SELECT coalesce(max(cursor), 0) FROM events');
    this.#pending = arrays(
      `SELECT interrupts.place, runs.id, runs.workflow, ${INTERRUPT_COLUMNS}
       FROM interrupts CROSS JOIN runs ON runs.key = interrupts.run
       WHERE interrupts.open = 1 AND interrupts.place > ? AND interrupts.place <= ?
         AND runs.tenant = ? AND runs.imported_at IS NULL ORDER BY interrupts.place LIMIT ?`,
    );
    this.#lastLookedAt = arrays(
      'SELECT place FROM interrupts WHERE open = 1 AND place > ? ORDER BY place LIMIT 1 OFFSET ?',
    );
  }

  /** The positions of the store are cursors; the part looked at is counted in cursors, which may have gaps. */
  rows(range: Parameters<EventLog['changes']>[0], { tenant, types }: ChosenRows): Changes {
    const { limit, maxBytes = Number.POSITIVE_INFINITY } = range;
    const after = Number(range.after);
    // Never beyond the last row: after a failed transaction its places are given out again.
    const through = Math.min(after + limit, Number((this.#end.get() as unknown as Columns)[0]));
    const rows: Row[] = [];
    let bytes = 0;
    for (const found of this.#rows.iterate(after, through, JSON.stringify(types), tenant)) {
      const [runId, contextId, ...columns] = found as unknown as Columns;
      const row = rowOf(runId as RunId, contextId as ContextId, columns);
      rows.push(row);
      bytes += row.payload.length + (row.task?.length ?? 0);
      if (bytes >= maxBytes) return { rows, position: String(row.cursor) };
    }
    return { rows, position: String(Math.max(after, through)) };
  }

  pending({ tenant, limit, cursor }: PendingQuery): PendingPage {
    const after = parseListCursor(cursor) ?? 0;
    const bound = this.#lastLookedAt.get(after, LOOKED_AT - 1) as unknown as Columns | undefined;
    const through = (bound?.[0] as number | undefined) ?? null;
    const found = this.#pending.all(
      after,
      through ?? Number.MAX_SAFE_INTEGER,
      tenant,
      limit + 1,
    ) as unknown as Columns[];
    const page = found.slice(0, limit);
    const next = found.length > limit ? page.at(-1)![0] : through;
    return {
      interrupts: page.map(([, runId, workflowId, ...columns]) => ({
        ...interruptOf(runId as RunId, columns),
        workflowId: workflowId as string,
      })),
      nextCursor: next === null ? null : String(next),
    };
  }
}
