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
import { scalars, texts } from './array-literal.ts';
import type { Relied } from './facts.ts';

/** The types of the columns of groups and of rows, in the order of `arguments`. */
const GROUP_TYPES =
  'bigint text text bigint bigint text bigint text bigint bigint text bigint boolean boolean bigint'.split(' ');
const ROW_TYPES =
  'integer bigint bigint integer integer integer integer smallint text text text text text text text'.split(' ');

export const COMMIT = `SELECT cairn.commit($1::integer, $2::integer, $3::boolean, $4::text::jsonb, ${[
  ...GROUP_TYPES,
  ...ROW_TYPES,
]
  .map((type, place) => `$${place + 5}::${type}[]`)
  .join()})::text`;

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
  /** Of the rows that count for the tenant. */
  bytes: number;
}

interface Sent {
  readonly writer: number;
  readonly lane?: number;
  /** Whether nothing is written unless every group is right. */
  readonly isAll: boolean;
}

interface GroupedRow {
  readonly group: number;
  readonly row: Row;
}

type Json = Readonly<Record<string, unknown>>;

export class Batch {
  readonly groups = new Map<RunId, Group>();
  readonly #rows: GroupedRow[] = [];
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
    for (const row of rows) this.#rows.push({ group: g, row });
    group.bytes += bytesOf(append.rows);
    const isNew = append.create !== undefined;
    const isChanged = isNew || head.record !== previous.record;
    if (isNew) this.lock(`starts ${tenant}`, false);
    if (isChanged && isListed(head.record)) this.#add('listed', { g });
    if (isChanged && head.record.scopeId !== null && head.record.scopeId !== (isNew ? null : previous.record.scopeId))
      this.lock(`scope ${JSON.stringify([tenant, head.record.scopeId])}`, true);
    for (const one of interrupts) this.#addInterrupt(g, one, head.record);
    if (memories.length > 0) this.lock(`starts ${tenant}`, true);
    for (const change of memories) this.#add('memories', { g, t: tenant, ...memoryChange(change) });
    for (const sha256 of blobs) this.#add('blobs', { g, t: tenant, h: sha256 });
    for (const piece of artifacts) this.#add('artifacts', { g, c: contextId, ...piece });
    if (append.claim !== undefined) this.#add('sessions', { g, ...sessionOf(append.claim) });
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

  /** The arguments of `COMMIT`. Batches of one writer that are under way at once have different lanes. */
  arguments({ writer, lane = 0, isAll }: Sent): readonly Value[] {
    const groups = [...this.groups.values()];
    const more: Record<string, readonly Json[]> = Object.fromEntries(this.#more);
    const created = groups.filter(({ before }) => before === null);
    const relied = groups.filter(reliesOnMore);
    // A statement writes a row once: the last of several appends says what the record is.
    const changed = groups.filter(({ before, head }) => before !== null && head.record !== before.head.record);
    if (changed.length > 0) more.records = changed.map(({ place, head }) => ({ g: place, ...recordJson(head.record) }));
    if (created.length > 0) more.created = created.map(createdJson);
    if (relied.length > 0) more.relied = relied.map(reliedJson);
    if (this.#locks.size > 0) more.locks = [...this.#locks].map(([k, x]) => ({ k, x }));
    const rest = Object.keys(more).length === 0 ? null : encodeJson(more);
    return [writer, lane, isAll, rest, ...groupColumns(groups), ...rowColumns(this.#rows)];
  }

  #addInterrupt(g: number, interrupt: InterruptRecord, of: RunRecord): void {
    const { interruptId: id, nodeId: node, kind, title, requestedAt: at, seq } = interrupt;
    const open = interrupt.open ? 1 : 0;
    const votes = JSON.stringify(interrupt.votes);
    const tenant = asksNobody(of) ? null : of.tenant;
    const row = { g, id, node, kind, open, at, seq, votes, tenant, title };
    // A statement writes a row once: a branch may answer what it begins with.
    const known = this.#more.get('interrupts')?.findIndex((other) => other.g === g && other.id === id) ?? -1;
    if (known < 0) this.#add('interrupts', row);
    else this.#more.get('interrupts')?.splice(known, 1, row);
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
      bytes: 0,
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

/** A claim lengthens the session of its owner, unless nine tenths of the time are left. */
const sessionOf = ({ owner, now, until }: NonNullable<Append['claim']>): Json => ({
  owner,
  until,
  enough: Math.ceil(until - (until - now) / 10),
});

/** What lists filter by beside the columns of a run. */
const isListed = ({ tags, parentRunId }: RunRecord): boolean => tags.length > 0 || parentRunId !== null;

const rowColumns = (rows: readonly GroupedRow[]): readonly string[] => [
  scalars(rows.map(({ group }) => group)),
  scalars(rows.map(({ row }) => row.seq)),
  scalars(rows.map(({ row }) => row.at)),
  scalars(rows.map(({ row }) => row.face)),
  scalars(rows.map(({ row }) => row.payload.length)),
  scalars(rows.map(({ row }) => row.task?.length ?? 0)),
  scalars(rows.map(({ row }) => rowBytes(row))),
  scalars(rows.map(({ row }) => (row.audience === 'client' ? 0 : 1))),
  texts(rows.map(({ row }) => row.type)),
  texts(rows.map(({ row }) => row.nodeId)),
  texts(rows.map(({ row }) => (row.cause === null ? null : JSON.stringify(row.cause)))),
  texts(rows.map(({ row }) => row.rowHash)),
  texts(rows.map(({ row }) => row.hash)),
  texts(rows.map(({ row }) => row.payload)),
  texts(rows.map(({ row }) => row.task)),
];

const groupColumns = (groups: readonly Group[]): readonly string[] => [
  scalars(groups.map(({ before }) => before?.key ?? null)),
  texts(groups.map(({ head }) => head.record.contextId)),
  texts(groups.map(({ head }) => head.record.tenant)),
  scalars(groups.map(({ before }) => before?.head.seq ?? null)),
  scalars(groups.map(({ before }) => before?.head.fence ?? null)),
  texts(groups.map(({ before }) => before?.head.owner ?? null)),
  scalars(groups.map(({ head }) => head.seq)),
  texts(groups.map(({ head }) => head.hash)),
  scalars(groups.map(({ head }) => head.at)),
  scalars(groups.map(({ head }) => head.fence)),
  texts(groups.map(({ head }) => head.owner)),
  scalars(groups.map(({ wake }) => wake.at)),
  scalars(groups.map(({ wake }) => wake.isReset)),
  scalars(groups.map(({ head: { record } }) => record.endedAt !== null || record.importedAt !== null)),
  scalars(groups.map(({ bytes }) => bytes)),
];

const reliesOnMore = ({ isNamedContext, relied }: Group): boolean =>
  isNamedContext || relied.edition !== null || relied.aloneIn !== null || relied.deadOwner !== null;

const reliedJson = ({ place, isNamedContext, relied }: Group): Json => ({
  g: place,
  n: isNamedContext,
  e: relied.edition,
  al: relied.aloneIn,
  ...(relied.deadOwner !== null && { dead: relied.deadOwner.owner, now: relied.deadOwner.now }),
});

const createdJson = ({ place, runId, head }: Group): Json => ({ g: place, id: runId, ...createJson(head.record) });

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
