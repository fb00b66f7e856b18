/** Heads of runs, and the ones this node wrote last. A cached head may be old: every commit compares it with the table. */
import type { ContextId, RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';
import type { FullHead } from '../admit.ts';
import type { InterruptRecord } from '../ports/run-index.ts';
import { type InterruptColumns, interruptOf, RUN_COLUMNS, type RunColumns, recordOf } from '../run-columns.ts';
import type { Queries } from './database.ts';
import { decodeJson, encodeJson } from './text-codec.ts';

/** Cached runs; a miss costs a round trip. */
const CAPACITY = 10_000;

export interface StoredHead {
  /** The run's key in this database. */
  readonly key: number;
  /** Without `wakeAt`, which only the database knows. */
  readonly head: FullHead;
}

type HeadColumns = [
  seq: number,
  hash: string,
  at: number,
  fence: number,
  owner: string | null,
  open: string | null,
  ...RunColumns,
];

const LOAD = `SELECT heads.seq, heads.hash, heads.at, heads.fence, heads.owner,
    (SELECT json_agg(json_build_array(i.id, i.node, i.kind, i.open, i.requested_at, i.seq, i.votes, i.title)
         ORDER BY i.place)
       FROM cairn.interrupts i WHERE i.run = runs.key AND i.open = 1)::text, ${RUN_COLUMNS}
  FROM cairn.runs AS runs JOIN cairn.heads AS heads ON heads.run = runs.key
  WHERE runs.id IN (SELECT jsonb_array_elements_text($1::text::jsonb))`;

/** The heads of the runs that exist, as of now. */
export async function loadHeads(queries: Queries, runIds: readonly RunId[]): Promise<Map<RunId, StoredHead>> {
  const heads = new Map<RunId, StoredHead>();
  if (runIds.length === 0) return heads;
  for (const columns of await queries.rows<HeadColumns>(LOAD, [encodeJson(runIds)])) {
    const [seq, hash, at, fence, owner, asked, ...run] = columns;
    const record = recordOf(run);
    const open = new Map<string, InterruptRecord>();
    const found: readonly InterruptColumns[] = asked === null ? [] : decodeJson(asked);
    for (const interrupt of found) open.set(interrupt[0], interruptOf(record.runId, interrupt));
    heads.set(record.runId, { key: run[0], head: { record, open, seq, hash, at, fence, owner, wakeAt: null } });
  }
  return heads;
}

export async function loadHead(queries: Queries, runId: RunId): Promise<StoredHead | null> {
  return (await loadHeads(queries, [runId])).get(runId) ?? null;
}

export class HeadCache {
  readonly #heads = new LruMap<RunId, StoredHead>(CAPACITY);

  get(runId: RunId): StoredHead | undefined {
    return this.#heads.get(runId);
  }

  keep(runId: RunId, stored: StoredHead): void {
    this.#heads.set(runId, stored);
  }

  forget(runId: RunId): void {
    this.#heads.delete(runId);
  }

  /** Whose a run is and where, without a query; these never change. */
  identityOf(runId: RunId): { readonly tenant: string; readonly contextId: ContextId } | undefined {
    return this.#heads.peek(runId)?.head.record;
  }
}
