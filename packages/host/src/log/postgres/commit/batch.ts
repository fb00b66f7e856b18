/** A batch of admitted appends, as the arguments of the function that commits it. */
import type { RunId } from '@cairn/protocol';
import type { AdmittedAppend, FullHead } from '../../admit.ts';
import { asksNobody } from '../../fold-run-index.ts';
import { indexBody, isIndexDue } from '../../index-checkpoint.ts';
import type { Append } from '../../ports/event-log.ts';
import type { IdempotencyWrite } from '../../ports/idempotency.ts';
import { bytesOf, rowBytes } from '../../ports/row-bytes.ts';
import type { Row } from '../../ports/rows.ts';
import type { InterruptRecord, RunRecord } from '../../ports/run-index.ts';
import { summaryText } from '../../run-columns.ts';
import type { Value } from '../database.ts';
import type { StoredHead } from '../heads.ts';
import { lockKey } from '../lock-key.ts';
import { memoryChange } from '../memories/memory-words.ts';
import { idempotencyLock } from '../records/idempotency.ts';
import { encodeJson } from '../text-codec.ts';
import type { Relied } from './facts.ts';

export const COMMIT = `SELECT cairn.commit($1::integer, $2::text::jsonb, $3::text::jsonb, $4::text::jsonb, $5::boolean)::text`;

/** What a batch does to one run. */
export interface Group {
  readonly place: number;
  readonly runId: RunId;
  /** Null for a run that the batch creates. */
  readonly before: StoredHead | null;
  head: FullHead;
  /** Whether a claim or the end dropped an earlier wake, and the earliest wake since then. */
  wake: { isReset: boolean; at: number | null };
  readonly relied: Relied;
  isNamedContext: boolean;
}

type Json = Readonly<Record<string, unknown>>;

export class Batch {
  readonly groups = new Map<RunId, Group>();
  readonly #rows: Json[] = [];
  readonly #more = new Map<string, Json[]>();
  readonly #locks = new Map<number, boolean>();

  get isEmpty(): boolean {
    return this.groups.size === 0;
  }

  /** Adds an admitted append. `before` is the run as the database has it. */
  add(
    append: Append,
    admitted: AdmittedAppend,
    { before, relied }: { before: StoredHead | null; relied: Relied },
  ): Group {
    const group = this.#group(append, admitted.head, before);
    const previous = group.head;
    const { head, rows, interrupts, memories, artifacts, blobs } = admitted;
    const { tenant, contextId } = head.record;
    const g = group.place;
    if (relied.deadOwner !== null) group.relied.deadOwner = relied.deadOwner;
    if (relied.edition !== null) group.relied.edition = relied.edition;
    if (relied.aloneIn !== null) group.relied.aloneIn = relied.aloneIn;
    if (append.isNamedContext === true) group.isNamedContext = true;
    for (const row of rows) this.#rows.push(rowJson(g, row));
    this.#add('usage', { g, t: tenant, b: bytesOf(append.rows) });
    const isNew = append.create !== undefined;
    const isChanged = isNew || head.record !== previous.record;
    if (isNew) this.lock(`starts ${tenant}`, false);
    if (isChanged && !isNew && group.before !== null) this.#add('records', { g, ...recordJson(head.record) });
    if (isChanged && isListed(head.record)) this.#add('listed', { g });
    if (isChanged && head.record.scopeId !== null && head.record.scopeId !== (isNew ? null : previous.record.scopeId))
      this.lock(`scope ${JSON.stringify([tenant, head.record.scopeId])}`, true);
    for (const one of interrupts) this.#addInterrupt(g, one, head.record);
    if (memories.length > 0) this.lock(`starts ${tenant}`, true);
    for (const change of memories) this.#add('memories', { g, t: tenant, ...memoryChange(change) });
    for (const sha256 of blobs) this.#add('blobs', { g, t: tenant, h: sha256 });
    for (const piece of artifacts) this.#add('artifacts', { g, c: contextId, ...piece });
    if (append.claim !== undefined) this.#add('sessions', { g, owner: append.claim.owner, until: append.claim.until });
    for (const { runId, at } of append.wakes ?? []) this.#add('wakes', { g, id: runId, at });
    this.#addIdempotency(g, append.idempotency ?? []);
    if (isIndexDue(isNew ? -1 : previous.seq, head)) this.#add('indexes', { g, seq: head.seq, body: indexBody(head) });
    // As `admit` does it: a claim drops the wake before it, the end every wake, and a rest sets one.
    if (head.fence !== (isNew ? 0 : previous.fence) || head.record.endedAt !== null)
      group.wake = { isReset: true, at: null };
    const restAt = head.record.endedAt === null ? append.rest?.wakeAt : undefined;
    if (typeof restAt === 'number') group.wake.at = Math.min(restAt, group.wake.at ?? restAt);
    group.head = head;
    return group;
  }

  /** Creates a run that does not begin with an append: a fork, or an imported run. Its open interrupts are its own. */
  begin(runId: RunId, head: FullHead, idempotency: Append['idempotency'] = []): void {
    const group = this.#group({ runId }, head, null);
    group.wake = { isReset: true, at: head.wakeAt };
    const g = group.place;
    for (const one of head.open.values()) this.#addInterrupt(g, one, head.record);
    if (isListed(head.record)) this.#add('listed', { g });
    if (head.seq >= 0) this.#add('indexes', { g, seq: head.seq, body: indexBody(head) });
    this.#addIdempotency(g, idempotency);
    this.lock(`starts ${head.record.tenant}`, false);
  }

  /** Locks a name until the end of the transaction, alone or with others. */
  lock(name: string, isAlone: boolean): void {
    const key = lockKey(name);
    this.#locks.set(key, isAlone || this.#locks.get(key) === true);
  }

  /** The arguments of `COMMIT`. */
  arguments(writer: number, isAll: boolean): readonly Value[] {
    const groups = [...this.groups.values()].map(groupJson);
    const more: Record<string, readonly Json[]> = Object.fromEntries(this.#more);
    if (this.#locks.size > 0) more.locks = [...this.#locks].map(([k, x]) => ({ k, x }));
    return [writer, encodeJson(groups), encodeJson(this.#rows), encodeJson(more), isAll];
  }

  #addInterrupt(g: number, interrupt: InterruptRecord, of: RunRecord): void {
    const { interruptId: id, nodeId: node, kind, title, requestedAt: at, seq } = interrupt;
    const open = interrupt.open ? 1 : 0;
    const votes = JSON.stringify(interrupt.votes);
    const tenant = asksNobody(of) ? null : of.tenant;
    this.#add('interrupts', { g, id, node, kind, open, at, seq, votes, tenant, title });
  }

  #addIdempotency(g: number, writes: readonly IdempotencyWrite[]): void {
    for (const one of writes) {
      if (one.owner === null) this.lock(idempotencyLock(one.record), true);
      this.#add('idempotency', { g, ...idempotencyJson(one) });
    }
  }

  #group({ runId }: Pick<Append, 'runId'>, head: FullHead, before: StoredHead | null): Group {
    const known = this.groups.get(runId);
    if (known !== undefined) return known;
    const group: Group = {
      place: this.groups.size,
      runId,
      before,
      head: before?.head ?? head,
      wake: { isReset: false, at: null },
      relied: { deadOwner: null, edition: null, aloneIn: null },
      isNamedContext: false,
    };
    this.groups.set(runId, group);
    return group;
  }

  #add(table: string, row: Json): void {
    const rows = this.#more.get(table);
    if (rows === undefined) this.#more.set(table, [row]);
    else rows.push(row);
  }
}

/** What lists filter by beside the columns of a run. */
const isListed = ({ tags, parentRunId }: RunRecord): boolean => tags.length > 0 || parentRunId !== null;

function rowJson(g: number, row: Row): Json {
  return {
    g,
    s: row.seq,
    a: row.at,
    f: row.face,
    z: row.payload.length,
    zt: row.task?.length ?? 0,
    b: rowBytes(row),
    u: row.audience === 'client' ? 0 : 1,
    y: row.type,
    n: row.nodeId,
    c: row.cause === null ? null : JSON.stringify(row.cause),
    r: row.rowHash,
    h: row.hash,
    p: row.payload,
    k: row.task,
  };
}

function groupJson(group: Group): Json {
  const { place, runId, before, head, wake, relied, isNamedContext } = group;
  const { record } = head;
  return {
    i: place,
    k: before?.key ?? null,
    id: runId,
    c: record.contextId,
    t: record.tenant,
    ...(before !== null && { es: before.head.seq, ef: before.head.fence, eo: before.head.owner }),
    s: head.seq,
    h: head.hash,
    a: head.at,
    f: head.fence,
    o: head.owner,
    w: wake.at,
    wr: wake.isReset,
    ov: record.endedAt !== null || record.importedAt !== null,
    n: isNamedContext,
    e: relied.edition,
    al: relied.aloneIn,
    ...(relied.deadOwner !== null && { dead: relied.deadOwner.owner, now: relied.deadOwner.now }),
    ...(before === null && createJson(record)),
  };
}

const recordJson = (record: RunRecord): Json => ({
  workflow: record.workflowId,
  definition: record.definitionHash,
  principal: record.principal,
  status: record.status,
  node: record.currentNodeId,
  tags: JSON.stringify(record.tags),
  scope: record.scopeId,
  error_code: record.errorCode,
  error_message: record.errorMessage,
  ended_at: record.endedAt,
  summary: summaryText(record.summary),
});

const createJson = (record: RunRecord): Json => ({
  ...recordJson(record),
  origin: record.originRunId,
  parent: record.parentRunId,
  created_at: record.createdAt,
  imported_at: record.importedAt,
  fork_source: record.fork?.sourceRunId ?? null,
  fork_seq: record.fork?.fromSeq ?? null,
  fork_mode: record.fork?.mode ?? null,
});

function idempotencyJson({ record, owner: by }: IdempotencyWrite): Json {
  const {
    tenant: t,
    endpoint: e,
    key: k,
    requestDigest: digest,
    state,
    owner,
    until,
    status,
    headers,
    body,
    at,
  } = record;
  return { t, e, k, by, digest, state, owner, until, status, headers, body, at };
}
