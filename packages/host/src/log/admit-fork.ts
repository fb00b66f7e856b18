/** Admits a fork: what a run is that begins with the rows of another. Pure, so all stores behave alike. */
import { invariant, type RunId } from '@cairn/protocol';
import type { FullHead } from './admit.ts';
import { chainStart } from './chain.ts';
import { forkSourceMissing, forkTooDeep, invalidFromSeq, runExists, runImported } from './errors.ts';
import { type IndexedRun, newRunIndex } from './fold-run-index.ts';
import { type ForkRun, MAX_SHARED_RUNS, type NewRun, type OtherFork, type RunFork } from './ports/event-log.ts';
import type { Row } from './ports/rows.ts';
import type { InterruptRecord } from './ports/run-index.ts';

/** What a store knows of both runs before it writes anything. */
export interface ForkPlace {
  readonly source: FullHead | null;
  /** The number of runs that own rows of the source. */
  readonly owners: number;
  readonly isKnown: boolean;
}

/** Throws unless the source has the rows. Returns its head. Another tenant's run looks like an unknown one. */
export function checkFork({ runId, tenant, originRunId, fork }: OtherFork, place: ForkPlace): FullHead {
  const { source, owners, isKnown } = place;
  if (source === null || source.record.tenant !== tenant) throw forkSourceMissing(fork);
  if (isKnown) throw runExists(runId);
  if (source.record.importedAt !== null) throw runImported(fork.sourceRunId);
  if (fork.fromSeq > source.seq + 1) throw invalidFromSeq(fork, source.seq);
  if (owners >= MAX_SHARED_RUNS) throw forkTooDeep(fork);
  invariant(originRunId === source.record.originRunId, 'fork-keeps-origin', { runId, originRunId });
  invariant(Number.isInteger(fork.fromSeq) && fork.fromSeq >= 0, 'fork-position', { runId, fromSeq: fork.fromSeq });
  return source;
}

/**
 * A fork needs the rows of its source before this seq. A replay reads the whole record, and even a branch that shares
 * nothing begins with what started the source.
 */
export const neededBefore = ({ mode, fromSeq }: RunFork): number =>
  mode === 'replay' ? Number.MAX_SAFE_INTEGER : Math.max(1, fromSeq);

/** A context has no two runs of one origin, so that no cursor stands in it twice. */
export function checkOrigins({ runId, originRunId, others = [] }: ForkRun): void {
  const origins = new Set([originRunId, ...others.map((other) => other.originRunId)]);
  invariant(origins.size === others.length + 1, 'fork-origins-differ', { runId });
}

/** The index of a fork before its own rows, from that of its source at the cut. Null for a fork at 0. */
export function forkedIndex(run: OtherFork, source: FullHead, cut: IndexedRun | null): IndexedRun {
  const { runId, fork, at } = run;
  if (cut === null) return newRunIndex(runId, { ...identityOf(run), of: source.record, fork }, at);
  const { tenant, contextId, originRunId, parentRunId = null } = run;
  const record = { ...cut.record, runId, tenant, contextId, originRunId, parentRunId, createdAt: at, fork };
  return { record, open: openUnder(runId, cut.open) };
}

/** The head of a new fork. `last` is the last shared row. It is due at once, unless the shared rows end it. */
export function forkedHead(run: OtherFork, index: IndexedRun, last: Pick<Row, 'seq' | 'hash' | 'at'> | null): FullHead {
  const { seq, hash, at } = last ?? { seq: -1, hash: chainStart(run.originRunId), at: 0 };
  const wakeAt = index.record.endedAt === null ? run.at : null;
  return { ...index, seq, hash, at, fence: 0, owner: null, wakeAt };
}

const identityOf = ({ tenant, contextId, originRunId, parentRunId }: OtherFork): NewRun => ({
  tenant,
  contextId,
  originRunId,
  parentRunId,
});

function openUnder(runId: RunId, open: IndexedRun['open']): IndexedRun['open'] {
  const renamed = new Map<string, InterruptRecord>();
  for (const [id, record] of open) renamed.set(id, { ...record, runId });
  return renamed;
}
