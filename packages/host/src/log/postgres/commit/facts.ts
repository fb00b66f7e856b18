/**
 * What guards ask of the database beside the run itself. Most appends ask nothing that the commit does not check anyway,
 * so that a fact is read only when an append needs it: the guard throws `Missing`, the fact is loaded, and the append is
 * admitted again.
 */
import type { ContextId, RunId } from '@cairn/protocol';
import type { GuardQueries } from '../../admit.ts';
import type { NewestPieces } from '../../artifact-changes.ts';
import type { ArtifactState } from '../../ports/artifacts.ts';
import type { Queries } from '../database.ts';

export class Missing extends Error {
  readonly load: (queries: Queries) => Promise<void>;

  constructor(load: (queries: Queries) => Promise<void>) {
    super('A fact must be loaded.');
    this.load = load;
  }
}

/** What a writer relied on and the commit compares. */
export interface Relied {
  /** Owners whose session was over, and when. */
  deadOwner: { readonly owner: string; readonly now: number } | null;
  /** The edition of a context's artifacts. */
  edition: number | null;
  /** The scope in which no other run may be active. */
  aloneIn: string | null;
}

interface Pieces {
  readonly edition: number;
  readonly newest: NewestPieces | null;
}

/** The bytes of tenants as of the last commit. They change with each commit of any node, and need not be exact. */
export class TenantBytes {
  readonly #bytes = new Map<string, number>();

  get(tenant: string): number | undefined {
    return this.#bytes.get(tenant);
  }

  set(tenant: string, bytes: number): void {
    this.#bytes.set(tenant, bytes);
  }

  forget(tenant: string): void {
    this.#bytes.delete(tenant);
  }

  async load(queries: Queries, tenant: string): Promise<void> {
    const [[bytes] = [0]] = await queries.rows<[number]>(
      'SELECT coalesce(sum(log_bytes + blob_bytes), 0)::bigint FROM cairn.usage WHERE tenant = $1::text',
      [tenant],
    );
    this.set(tenant, bytes);
  }
}

/** The facts of one batch. `isSure`: what the commit would refuse is looked up, so that the refusal has a reason. */
export class Facts implements GuardQueries {
  readonly #known = new Map<string, unknown>();
  readonly #bytes: TenantBytes;
  /** Bytes of this batch. */
  readonly #added = new Map<string, number>();
  isSure = false;
  relied: Relied = { deadOwner: null, edition: null, aloneIn: null };

  constructor(bytes: TenantBytes) {
    this.#bytes = bytes;
  }

  add(tenant: string, bytes: number): void {
    this.#added.set(tenant, (this.#added.get(tenant) ?? 0) + bytes);
  }

  isAlive(owner: string, now: number): boolean {
    const until = this.#fact(`session ${owner}`, async (queries) => {
      const [[found] = [0]] = await queries.rows<[number]>('SELECT until FROM cairn.sessions WHERE owner = $1::text', [
        owner,
      ]);
      return found;
    });
    if (until > now) return true;
    this.relied.deadOwner = { owner, now };
    return false;
  }

  activeRun(tenant: string, scopeId: string): RunId | null {
    this.relied.aloneIn = scopeId;
    if (!this.isSure) return null;
    return this.#fact(`scope ${JSON.stringify([tenant, scopeId])}`, async (queries) => {
      const [found] = await queries.rows<[RunId]>(
        `SELECT id FROM cairn.runs WHERE tenant = $1::text AND scope = $2::text AND scope IS NOT NULL AND ended_at IS NULL
           AND imported_at IS NULL AND fork_mode IS DISTINCT FROM 'replay' ORDER BY key LIMIT 1`,
        [tenant, scopeId],
      );
      return found?.[0] ?? null;
    });
  }

  tenantBytes(tenant: string): number {
    const bytes = this.#bytes.get(tenant);
    if (bytes === undefined) throw new Missing((queries) => this.#bytes.load(queries, tenant));
    return bytes + (this.#added.get(tenant) ?? 0);
  }

  contextTenant(contextId: ContextId): string | null {
    if (!this.isSure) return null;
    return this.#fact(`context ${contextId}`, (queries) => contextTenant(queries, contextId));
  }

  wasRequested(runId: RunId, interruptId: string): boolean {
    return this.#fact(`asked ${runId} ${interruptId}`, async (queries) => {
      const found = await queries.rows(
        `SELECT 1 FROM cairn.runs r JOIN cairn.interrupts i ON i.id = $2::text AND (i.run = r.key OR EXISTS (
             SELECT 1 FROM cairn.shared_rows s WHERE s.run = r.key AND s.owner = i.run AND i.seq < s.through))
           WHERE r.id = $1::text LIMIT 1`,
        [runId, interruptId],
      );
      return found.length > 0;
    });
  }

  hasBlob(tenant: string, sha256: string): boolean {
    if (!this.isSure) return true;
    return this.#fact(`blob ${tenant} ${sha256}`, async (queries) => {
      const found = await queries.rows('SELECT 1 FROM cairn.blobs WHERE tenant = $1::text AND sha256 = $2::text', [
        tenant,
        sha256,
      ]);
      return found.length > 0;
    });
  }

  newestPieces(contextId: ContextId, artifactId: string): NewestPieces | null {
    const { edition, newest } = this.#fact(`pieces ${JSON.stringify([contextId, artifactId])}`, (queries) =>
      loadPieces(queries, contextId, artifactId),
    );
    this.relied.edition = edition;
    return newest;
  }

  #fact<Fact>(name: string, load: (queries: Queries) => Promise<Fact>): Fact {
    if (this.#known.has(name)) return this.#known.get(name) as Fact;
    throw new Missing(async (queries) => void this.#known.set(name, await load(queries)));
  }
}

/** A context that only has purged runs keeps its tenant. */
export async function contextTenant(queries: Queries, contextId: ContextId): Promise<string | null> {
  const [found] = await queries.rows<[string]>(
    `SELECT tenant FROM cairn.contexts c WHERE id = $1::text AND (EXISTS (SELECT 1 FROM cairn.runs r WHERE r.context = c.id)
       OR EXISTS (SELECT 1 FROM cairn.purged_runs p WHERE p.context = c.id))`,
    [contextId],
  );
  return found?.[0] ?? null;
}

async function loadPieces(queries: Queries, contextId: ContextId, artifactId: string): Promise<Pieces> {
  const [found] = await queries.rows<
    [edition: number, version: number | null, state: ArtifactState, runId: RunId, pieces: number]
  >(
    `SELECT c.edition, a.version, a.state, a.id, a.pieces FROM cairn.contexts c LEFT JOIN LATERAL (
         SELECT a.version, CASE WHEN a.state = 'cut' OR (a.state = 'open' AND r.ended_at IS NOT NULL) THEN 'abandoned'
           ELSE a.state END AS state, r.id, a.pieces
         FROM cairn.artifacts a JOIN cairn.runs r ON r.key = a.run
         WHERE a.context = c.id AND a.id = $2::text AND a.pieces > 0 ORDER BY a.version DESC LIMIT 1) a ON true
       WHERE c.id = $1::text`,
    [contextId, artifactId],
  );
  if (found === undefined) return { edition: 0, newest: null };
  const [edition, version, state, runId, pieces] = found;
  return { edition, newest: version === null ? null : { version, state, runId, pieces } };
}
