/** Admits queued appends to a batch, with cached heads. A refusal counts only if it follows from what the database has. */
import { isCairnError, type RunId } from '@cairn/protocol';
import { admit } from '../../admit.ts';
import { idempotencyRefused } from '../../errors.ts';
import type { Append } from '../../ports/event-log.ts';
import { type IdempotencyRecord, maySave } from '../../ports/idempotency.ts';
import { bytesOf } from '../../ports/row-bytes.ts';
import type { Row } from '../../ports/rows.ts';
import type { Queries } from '../database.ts';
import { type HeadCache, loadHead, loadHeads, type StoredHead } from '../heads.ts';
import { idempotencyRecord } from '../records/idempotency.ts';
import { Batch } from './batch.ts';
import { Facts, Missing, type TenantBytes } from './facts.ts';
import type { AppendJob } from './job.ts';

export interface AdmittedJob {
  readonly job: AppendJob;
  readonly rows: readonly Row[];
  readonly fence: number;
}

export interface Admission {
  readonly batch: Batch;
  readonly admitted: readonly AdmittedJob[];
  /** Refused because of an append before it in the batch: only if that one is written. */
  readonly refused: readonly { readonly job: AppendJob; readonly refusal: unknown }[];
  /** What must wait for the batch. */
  readonly deferred: readonly AppendJob[];
}

export interface AdmissionPorts {
  readonly queries: Queries;
  readonly heads: HeadCache;
  readonly bytes: TenantBytes;
}

export async function admitJobs(jobs: readonly AppendJob[], ports: AdmissionPorts): Promise<Admission> {
  const admitting = new Admitting(ports);
  await admitting.loadHeads(jobs.filter(mayExist).map(({ append }) => append.runId));
  for (const job of jobs) await admitting.admit(job);
  return admitting;
}

/** A run that is created exists only by mistake: the commit compares, and then it is looked up. */
const mayExist = ({ append, attempts }: AppendJob): boolean => append.create === undefined || attempts > 0;

class Admitting implements Admission {
  readonly batch = new Batch();
  readonly admitted: AdmittedJob[] = [];
  readonly refused: { readonly job: AppendJob; readonly refusal: unknown }[] = [];
  readonly deferred: AppendJob[] = [];
  readonly #ports: AdmissionPorts;
  readonly #facts: Facts;
  /** As the database had them a moment ago; null for a run that does not exist. */
  readonly #fresh = new Map<RunId, StoredHead | null>();
  /** What only one append of a batch may change, because the commit would not see the other. */
  readonly #taken = new Set<string>();
  readonly #waiting = new Set<RunId>();

  constructor(ports: AdmissionPorts) {
    this.#ports = ports;
    this.#facts = new Facts(ports.bytes);
  }

  async loadHeads(runIds: readonly RunId[]): Promise<void> {
    const { heads, queries } = this.#ports;
    const missing = [...new Set(runIds.filter((runId) => heads.get(runId) === undefined))];
    const found = await loadHeads(queries, missing);
    for (const runId of missing) this.#fresh.set(runId, found.get(runId) ?? null);
  }

  async admit(job: AppendJob): Promise<void> {
    const { append } = job;
    const taken = takenBy(append);
    if (this.#waiting.has(append.runId) || taken.some((name) => this.#taken.has(name))) {
      this.#waiting.add(append.runId);
      this.deferred.push(job);
      return;
    }
    for (;;) {
      try {
        await this.#try(job);
        for (const name of taken) this.#taken.add(name);
        return;
      } catch (error) {
        if (error instanceof Missing) await error.load(this.#ports.queries);
        else if (!(await this.#mayTryAgain(append, error))) {
          this.#refuse(job, error);
          return;
        }
      }
    }
  }

  async #try(job: AppendJob): Promise<void> {
    const { append } = job;
    const facts = this.#facts;
    facts.isSure = job.attempts > 0;
    facts.relied = { deadOwner: null, edition: null, aloneIn: null };
    const group = this.batch.groups.get(append.runId);
    const before = group === undefined ? this.#stored(append.runId) : group.before;
    const admitted = admit(append, group?.head ?? before?.head ?? null, 0, facts);
    if (facts.isSure) await this.#checkRecords(append);
    this.batch.add(append, admitted, { before, relied: facts.relied });
    facts.add(admitted.head.record.tenant, bytesOf(append.rows));
    this.admitted.push({ job, rows: admitted.rows, fence: admitted.head.fence });
  }

  #stored(runId: RunId): StoredHead | null {
    const fresh = this.#fresh.get(runId);
    return fresh === undefined ? (this.#ports.heads.get(runId) ?? null) : fresh;
  }

  /** A refusal may come from a cached head or count. Then the database is asked, once. */
  async #mayTryAgain({ runId, create }: Append, error: unknown): Promise<boolean> {
    if (this.batch.groups.has(runId)) return false;
    const tenant = create?.tenant ?? this.#stored(runId)?.head.record.tenant;
    let isNews = false;
    if (!this.#fresh.has(runId)) {
      this.#fresh.set(runId, await loadHead(this.#ports.queries, runId));
      isNews = true;
    }
    if (isCairnError(error, 'quota_exceeded') && tenant !== undefined && !this.#taken.has(`bytes ${tenant}`)) {
      this.#taken.add(`bytes ${tenant}`);
      await this.#ports.bytes.load(this.#ports.queries, tenant);
      isNews = true;
    }
    return isNews;
  }

  #refuse(job: AppendJob, refusal: unknown): void {
    if (this.batch.groups.has(job.append.runId)) this.refused.push({ job, refusal });
    else job.reject(refusal);
  }

  async #checkRecords({ idempotency = [] }: Append): Promise<void> {
    for (const one of idempotency) {
      const existing: IdempotencyRecord | null = await idempotencyRecord(this.#ports.queries, one.record);
      if (!maySave(existing, one.owner)) throw idempotencyRefused(one);
    }
  }
}

function takenBy({ idempotency = [], create, isAloneInScope, rows, runId }: Append): readonly string[] {
  const names = idempotency.map(({ record: { tenant, endpoint, key } }) => JSON.stringify([tenant, endpoint, key]));
  // The commit looks at the runs before the batch, and cannot tell who of a batch is alone.
  if (create !== undefined && isAloneInScope === true) names.push(`alone in ${create.tenant}`);
  if (rows.some(({ type }) => type.includes('artifact'))) names.push(`artifacts ${create?.contextId ?? runId}`);
  return names;
}
