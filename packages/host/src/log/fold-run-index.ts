/** The run list and the inbox as a pure fold of a run's rows, so that every store builds the same index. */
import type { InterruptKind, Json, JsonObject, RunId, RunStatus } from '@cairn/protocol';
import { canFollow, noWaits, objectOrEmpty, statusOf, waitingStatus } from '@cairn/protocol';
import type { NewRun, RunFork } from './ports/event-log.ts';
import type { NewRow, Row } from './ports/rows.ts';
import type { InterruptRecord, RunRecord, RunSummary, Vote } from './ports/run-index.ts';
import { actedSummary, askedTitle, forkedSummary, noSummary, startedSummary, usedSummary } from './run-summary.ts';

/** The index entry of one run. Immutable: an unchanged entry stays the same object. */
export interface IndexedRun {
  readonly record: RunRecord;
  /** Open interrupts, in the order they were requested. */
  readonly open: ReadonlyMap<string, InterruptRecord>;
}

/** What a run's own rows do not say. A fork has the workflow of its source before its first row. */
type Identity = NewRun & {
  readonly importedAt?: number | null | undefined;
  readonly fork?: RunFork | null | undefined;
  readonly of?: Pick<RunRecord, 'workflowId' | 'definitionHash' | 'principal'> | undefined;
};

type IndexedRow = Pick<NewRow, 'at' | 'type' | 'nodeId' | 'payload'>;

const noVotes: readonly Vote[] = [];

/** Kinds of interrupts that only notify and expect no answer. */
const toldKinds: ReadonlySet<string> = new Set(['conversation.start', 'conversation.close']);

const nothingOpen: ReadonlyMap<string, InterruptRecord> = new Map();

/** The index of a run before its first row. */
export function newRunIndex(runId: RunId, run: Identity, createdAt: number): IndexedRun {
  const record: RunRecord = {
    runId,
    tenant: run.tenant,
    contextId: run.contextId,
    originRunId: run.originRunId,
    parentRunId: run.parentRunId ?? null,
    workflowId: run.of?.workflowId ?? '',
    definitionHash: run.of?.definitionHash ?? '',
    principal: run.of?.principal ?? null,
    status: 'pending',
    currentNodeId: null,
    tags: [],
    scopeId: null,
    errorCode: null,
    errorMessage: null,
    createdAt,
    endedAt: null,
    importedAt: run.importedAt ?? null,
    fork: run.fork ?? null,
    summary: noSummary,
  };
  return { record, open: nothingOpen };
}

/** The types of the rows that change an index. */
export const indexedTypes = [
  'run.started',
  'run.paused',
  'run.resumed',
  'cairn.cancel.requested',
  'cairn.run.forked',
  'agent.invocation.started',
  'provider.usage',
  'node.completed',
  'node.failed',
  'node.skipped',
  'node.cancelled',
  'interrupt.requested',
  'approval.received',
  'interrupt.resolved',
  'run.completed',
  'run.failed',
  'run.cancelled',
] as const;

/** The index after the row at `seq`. Parses payloads only for the few types that the index shows. */
export function foldRunIndex(index: IndexedRun, row: IndexedRow, seq: number): IndexedRun {
  switch (row.type) {
    case 'run.started':
      return index.record.status === 'pending' ? changed(index, started(payloadOf(row))) : index;
    case 'run.paused':
      return canFollow(index.record.status, 'paused') ? changed(index, { status: 'paused' }) : index;
    case 'run.resumed':
      return index.record.status === 'paused' ? changed(index, { status: activeStatus(index.open) }) : index;
    case 'cairn.cancel.requested':
      return changed(index, { status: 'cancelling' });
    case 'cairn.run.forked':
      return forked(index, objectOrEmpty(payloadOf(row).overlay));
    case 'agent.invocation.started':
      return acted(index, row);
    case 'provider.usage':
      return used(index, row);
    case 'node.completed':
    case 'node.failed':
    case 'node.skipped':
    case 'node.cancelled':
      return index.open.size === 0 ? index : nodeEnded(index, row.nodeId);
    case 'interrupt.requested':
      return asked(index, row, seq);
    case 'approval.received':
      return index.open.size === 0 ? index : voted(index, row);
    case 'interrupt.resolved':
      return answered(index, row);
    case 'run.completed':
      return ended(index, row.at, 'completed');
    case 'run.failed':
      return ended(index, row.at, 'failed', objectOrEmpty(payloadOf(row).error));
    case 'run.cancelled':
      return ended(index, row.at, 'cancelled');
    default:
      return index;
  }
}

/** A run's index with its whole inbox, including closed interrupts. */
export interface FullIndex extends IndexedRun {
  readonly interrupts: ReadonlyMap<string, InterruptRecord>;
}

/** Recomputes the index from every row of a run. Takes only the identity from the stored record. */
export function reindex(stored: RunRecord, rows: Iterable<Row>): FullIndex {
  const { runId, tenant, contextId, originRunId, parentRunId, importedAt, fork, createdAt } = stored;
  const identity: Identity = {
    tenant,
    contextId,
    originRunId,
    parentRunId: parentRunId ?? undefined,
    importedAt,
    fork,
    of: fork === null ? undefined : stored,
  };
  const interrupts = new Map<string, InterruptRecord>();
  let index: IndexedRun | undefined;
  for (const row of rows) {
    const before = index ?? newRunIndex(runId, identity, fork === null ? row.at : createdAt);
    index = foldRunIndex(before, { ...row, nodeId: row.nodeId ?? undefined }, row.seq);
    noteInterrupts(interrupts, before, index);
  }
  return { ...(index ?? newRunIndex(runId, identity, createdAt)), interrupts };
}

/** Whether a stored index matches the rows. */
export const sameIndex = (fresh: FullIndex, stored: Pick<FullIndex, 'record' | 'interrupts'>): boolean =>
  sameFields(fresh.record, stored.record) &&
  fresh.interrupts.size === stored.interrupts.size &&
  [...fresh.interrupts].every(([id, record]) => sameFields(record, stored.interrupts.get(id)));

const sameFields = <Record extends object>(a: Record, b: Record | undefined): boolean =>
  b !== undefined &&
  (Object.keys(a) as (keyof Record)[]).every((field) => JSON.stringify(a[field]) === JSON.stringify(b[field]));

/** Whether the interrupts of a run take no answers here: it was written elsewhere, or repeats what is recorded. */
export const asksNobody = ({ importedAt, fork }: Pick<RunRecord, 'importedAt' | 'fork'>): boolean =>
  importedAt !== null || fork?.mode === 'replay';

/** Records the interrupts that one row opened, changed or closed. */
export function noteInterrupts(changes: Map<string, InterruptRecord>, before: IndexedRun, after: IndexedRun): void {
  if (before.open === after.open) return;
  for (const [id, record] of before.open)
    if (!after.open.has(id)) changes.set(id, { ...record, open: false, votes: noVotes });
  for (const [id, record] of after.open) if (before.open.get(id) !== record) changes.set(id, record);
}

function changed(index: IndexedRun, fields: Partial<RunRecord>): IndexedRun {
  return { record: { ...index.record, ...fields }, open: index.open };
}

function started(payload: JsonObject): Partial<RunRecord> {
  const owner = objectOrEmpty(payload.owner);
  return {
    workflowId: textOr(payload.workflowId) ?? '',
    definitionHash: textOr(payload.definitionHash) ?? '',
    principal: textOr(owner.principal),
    tags: Array.isArray(payload.tags) ? payload.tags.filter((tag) => typeof tag === 'string') : [],
    scopeId: textOr(payload.scopeId),
    status: 'running',
    summary: startedSummary(payload),
  };
}

/** An agent that is known already changes nothing. */
function acted(index: IndexedRun, row: IndexedRow): IndexedRun {
  const { summary } = index.record;
  const next = actedSummary(summary, payloadOf(row));
  return next === summary ? index : changed(index, { summary: next });
}

/** A run that ended used nothing any more. */
function used(index: IndexedRun, row: IndexedRow): IndexedRun {
  const { summary, endedAt } = index.record;
  return endedAt === null ? changed(index, { summary: usedSummary(summary, payloadOf(row)) }) : index;
}

/** A pause or a cancellation of the source does not hold for a branch. */
function forked(index: IndexedRun, overlay: JsonObject): IndexedRun {
  const { status, summary } = index.record;
  const { tags } = overlay;
  const isHeld = status === 'paused' || status === 'cancelling';
  return changed(index, {
    ...(isHeld ? { status: activeStatus(index.open) } : {}),
    ...(Array.isArray(tags) ? { tags: tags.filter((tag) => typeof tag === 'string') } : {}),
    summary: forkedSummary(summary, overlay),
  });
}

function asked(index: IndexedRun, row: IndexedRow, seq: number): IndexedRun {
  const payload = payloadOf(row);
  const interruptId = textOr(payload.interruptId) ?? textOr(payload.key);
  const kind = textOr(payload.kind);
  if (interruptId === null || kind === null || toldKinds.has(kind)) return index;
  const nodeId = row.nodeId ?? textOr(payload.nodeId) ?? '';
  const { runId } = index.record;
  const open = new Map(index.open).set(interruptId, {
    runId,
    interruptId,
    nodeId,
    kind,
    title: askedTitle(payload, kind),
    open: true,
    requestedAt: row.at,
    seq,
    votes: noVotes,
  });
  return settled({ record: index.record, open });
}

function answered(index: IndexedRun, row: IndexedRow): IndexedRun {
  const interruptId = textOr(payloadOf(row).interruptId);
  if (interruptId === null || !index.open.has(interruptId)) return index;
  const open = new Map(index.open);
  open.delete(interruptId);
  return settled({ record: index.record, open });
}

/** The vote that decides a gate arrives after the gate has closed, and is not kept. */
function voted(index: IndexedRun, row: IndexedRow): IndexedRun {
  const payload = payloadOf(row);
  const principal = textOr(payload.decidedBy);
  const asked = index.open.get(textOr(payload.interruptId) ?? '');
  if (asked === undefined || principal === null) return index;
  const votes = [...asked.votes, { principal, action: textOr(payload.action) ?? '' }];
  return { record: index.record, open: new Map(index.open).set(asked.interruptId, { ...asked, votes }) };
}

function ended(index: IndexedRun, endedAt: number, status: RunStatus, error: JsonObject = {}): IndexedRun {
  const fields: Partial<RunRecord> = {
    status,
    currentNodeId: null,
    errorCode: textOr(error.code),
    errorMessage: textOr(error.message),
    endedAt,
    summary: waitingFor(index.record.summary, null),
  };
  return { record: { ...index.record, ...fields }, open: nothingOpen };
}

/** Closes the open interrupts of a node that ended. */
function nodeEnded(index: IndexedRun, nodeId: string | undefined): IndexedRun {
  const waiting = [...index.open].filter(([, one]) => one.nodeId !== nodeId);
  const open = waiting.length === index.open.size ? index.open : new Map(waiting);
  return settled({ record: index.record, open });
}

/**
 * Derives the status from the open interrupts. The current node is the one that has waited longest. A running run shows
 * no node, which would cost a write per step. Requests and answers never lift a pause or a cancellation.
 */
function settled(index: IndexedRun): IndexedRun {
  const { status } = index.record;
  const oldest = index.open.values().next().value;
  const summary = waitingFor(index.record.summary, oldest?.title ?? null);
  if (status === 'paused' || status === 'cancelling' || status === 'pending') {
    return summary === index.record.summary ? index : changed(index, { summary });
  }
  return changed(index, { status: activeStatus(index.open), currentNodeId: oldest?.nodeId ?? null, summary });
}

const waitingFor = (summary: RunSummary, waitingOn: string | null): RunSummary =>
  summary.waitingOn === waitingOn ? summary : { ...summary, waitingOn };

function activeStatus(open: ReadonlyMap<string, InterruptRecord>): RunStatus {
  const waits = noWaits();
  for (const { kind } of open.values()) waits[waitingStatus(kind as InterruptKind)] += 1;
  return statusOf(waits);
}

function payloadOf(row: IndexedRow): JsonObject {
  const payload: JsonObject = JSON.parse(row.payload);
  return payload;
}

const textOr = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
