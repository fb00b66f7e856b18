/** Heads of runs, and the ones this node wrote last. A cached head may be old: every commit compares it with the table. */
import type { ContextId, RunId } from '@cairn/protocol';
import { LruMap } from '../../lru-map.ts';
import type { FullHead } from '../admit.ts';
import type { InterruptRecord } from '../ports/run-index.ts';
import { type InterruptColumns, interruptOf, RUN_COLUMNS, type RunColumns, recordOf } from '../run-columns.ts';
import { texts } from './commit/array-literal.ts';
import type { Queries } from './database.ts';
import type { KnownTenants } from './known-tenants.ts';
import { decodeJson } from './text-codec.ts';

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

const HEAD = `SELECT heads.seq, heads.hash, heads.at, heads.fence, heads.owner,
    (SELECT json_agg(json_build_array(i.id, i.node, i.kind, i.open, i.requested_at, i.seq, i.votes, i.title)
         ORDER BY i.place)
       FROM cairn.interrupts i WHERE i.run = runs.key AND i.open = 1)::text, ${RUN_COLUMNS}
  FROM cairn.runs AS runs JOIN cairn.heads AS heads ON heads.run = runs.key WHERE runs.id = `;

/** By itself, because Postgres plans it once. */
const LOAD_ONE = `${HEAD}$1::text`;

/** One after the other by key, however large the tables are. */
const LOAD = `SELECT found.* FROM unnest($1::text[]) AS wanted (id) CROSS JOIN LATERAL (${HEAD}wanted.id OFFSET 0) found`;

/** The heads of the runs that exist, as of now. */
export async function loadHeads(queries: Queries, runIds: readonly RunId[]): Promise<Map<RunId, StoredHead>> {
  const heads = new Map<RunId, StoredHead>();
  const [first] = runIds;
  if (first === undefined) return heads;
  const found =
    runIds.length === 1
      ? await queries.rows<HeadColumns>(LOAD_ONE, [first])
      : await queries.rows<HeadColumns>(LOAD, [texts(runIds)]);
  for (const columns of found) {
    const [seq, hash, at, fence, owner, asked, ...run] = columns;
    const record = recordOf(run);
    const open = new Map<string, InterruptRecord>();
    const asks: readonly InterruptColumns[] = asked === null ? [] : decodeJson(asked);
    for (const interrupt of asks) open.set(interrupt[0], interruptOf(record.runId, interrupt));
    heads.set(record.runId, { key: run[0], head: { record, open, seq, hash, at, fence, owner, wakeAt: null } });
  }
  return heads;
}

export async function loadHead(queries: Queries, runId: RunId): Promise<StoredHead | null> {
  return (await loadHeads(queries, [runId])).get(runId) ?? null;
}

export class HeadCache {
  readonly #heads = new LruMap<RunId, StoredHead>(CAPACITY);
  readonly #tenants: KnownTenants;

  constructor(tenants: KnownTenants) {
    this.#tenants = tenants;
  }

  get(runId: RunId): StoredHead | undefined {
    return this.#heads.get(runId);
  }

  keep(runId: RunId, stored: StoredHead): void {
    this.#heads.set(runId, stored);
    const { tenant, contextId } = stored.head.record;
    this.#tenants.note(runId, tenant);
    this.#tenants.note(contextId, tenant);
  }

  forget(runId: RunId): void {
    this.#heads.delete(runId);
  }

  /** Whose a run is and where, without a query; these never change. */
  identityOf(runId: RunId): { readonly tenant: string; readonly contextId: ContextId } | undefined {
    return this.#heads.peek(runId)?.head.record;
  }
}
