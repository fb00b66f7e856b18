/** Forks runs: shares the rows of a source before a position, and records what a branch changes there. */
import {
  contextId,
  foldEventOf,
  foldRun,
  isCairnError,
  isTerminalStatus,
  newRunView,
  type RunId,
  runId,
  TerminalError,
  taskFace,
} from '@cairn/protocol';
import type { OtherFork, RunFork, RunHead, ForkRun as StoredFork } from '../../log/ports/event-log.ts';
import { bytesOf } from '../../log/ports/row-bytes.ts';
import { isTombstone } from '../../log/ports/rows.ts';
import { sourcePurged } from '../../log/ports/run-purged.ts';
import { recordFor } from '../creation/idempotency-record.ts';
import { runImported } from '../creation/imported-run.ts';
import type { ForkRun, RetryRun, RunForked } from '../engine.ts';
import type { RestingRun } from '../loading/recent-states.ts';
import { runNotFound } from '../loading/run-loader.ts';
import { isQuarantined } from '../stepping/quarantine.ts';
import { branchRows, type OwnRows } from './branch-rows.ts';
import { refuseDeepFork } from './fork-depth.ts';
import type { ForkPorts } from './fork-ports.ts';
import { relativeRows } from './relative-rows.ts';
import { retryPoint } from './retry-point.ts';
import { type CutRun, cutTree } from './tree-cut.ts';
import { endedAbove, treePlace } from './tree-place.ts';

/** Resolves once the fork is durable. The scheduler then steps it. */
export async function forkRun(ports: ForkPorts, request: ForkRun): Promise<RunForked> {
  try {
    return await stored(ports, request);
  } catch (error) {
    // The source is itself a fork, and the run that it shares its first rows with was purged.
    if (isCairnError(error, 'run_purged')) throw sourcePurged({ ...request, sourceRunId: request.runId });
    throw error;
  }
}

async function stored(ports: ForkPorts, request: ForkRun): Promise<RunForked> {
  const source = await sourceOf(ports, request);
  await refuseDeepFork(ports.store.log, source);
  ports.shares.start(request.tenant);
  const fork = request.mode === 'branch' ? await branch(ports, request, source) : await replay(ports, request, source);
  const { runId: id, contextId: context, status, others = [] } = fork;
  const { tenant, runId: sourceRunId, mode, fromSeq } = request;
  for (const _ of others) ports.shares.startChild(tenant);
  const forked: RunForked = { runId: id, contextId: context, status, sourceRunId, fromSeq, mode };
  const record = recordFor(request.idempotency, ports.clock);
  const { status: _, begun = [], ...run } = fork;
  await ports.store.log.fork({ ...run, ...(record === undefined ? {} : { idempotency: [record(forked)] }) });
  // If this node steps them, it need not fold them again.
  for (const one of begun) ports.loader.keep(one);
  ports.nudge();
  return forked;
}

/** The rows to store, and the initial status of the fork. */
type Begun = Omit<StoredFork, 'idempotency'> &
  Pick<RunForked, 'status'> & {
    /** The initial states of branches, with their first rows. */
    readonly begun?: readonly RestingRun[];
  };

async function replay({ store, uniqueId, clock }: ForkPorts, request: ForkRun, source: RunHead): Promise<Begun> {
  const { tenant, runId: sourceRunId, mode, fromSeq } = request;
  const id = runId(uniqueId());
  return {
    ...{ runId: id, tenant, contextId: contextId(uniqueId()), originRunId: source.record.originRunId },
    ...{ fork: { sourceRunId, fromSeq, mode }, at: clock.now(), rows: await replayRows(store, request, id) },
    status: statusOfReplay(source, request),
  };
}

/** Maximum bytes that all runs of a fork write in its commit. Each run repeats the prompts and rules of the fork. */
const MAX_FORKED_BYTES = 8_388_608;

const tooManyBytes = ({ runId: sourceRunId, fromSeq }: ForkRun): TerminalError =>
  new TerminalError('conflict', {
    message: `The runs that are active where run ${sourceRunId} would be cut at ${fromSeq} would write more than ${MAX_FORKED_BYTES} bytes.`,
    hint: 'Give shorter prompts, or fork before the node that starts these runs.',
    details: { sourceRunId, fromSeq, maxBytes: MAX_FORKED_BYTES },
  });

/** Forks the run and every run of its tree that is active at the cut. */
async function branch(ports: ForkPorts, request: ForkRun, source: RunHead): Promise<Begun> {
  const { tenant, runId: sourceRunId, fromSeq, isWholeTree = false } = request;
  const tree = await treePlace(ports.store, { source, fromSeq, isWholeTree });
  const id = runId(ports.uniqueId());
  const runs = await cutTree(ports, tree, { runId: id, contextId: contextId(ports.uniqueId()) });
  const focus = runs.find(({ place }) => place.source.runId === sourceRunId);
  if (focus === undefined) throw endedAbove(sourceRunId, tree.top.head.record.runId, fromSeq);
  const cutAt = Math.max(...runs.map(({ state }) => state.now));
  const { rows, status } = branchRows(ports, { request, run: focus, cutAt });
  const at = ports.clock.now();
  const stored = (run: CutRun, own: OwnRows['rows']): OtherFork => ({
    ...{ runId: run.place.runId, tenant, contextId: run.place.contextId, originRunId: run.place.source.originRunId },
    ...(run.parentRunId === null ? {} : { parentRunId: run.parentRunId }),
    ...{ fork: forkOf(run), at, rows: own },
  });
  const others: OtherFork[] = [];
  /** The focus and the runs below it. A run comes after its parent. */
  const below = new Set<RunId>([focus.place.runId]);
  let bytes = bytesOf(rows);
  for (const run of runs) {
    if (run === focus) continue;
    const isBelow = run.parentRunId !== null && below.has(run.parentRunId);
    if (isBelow) below.add(run.place.runId);
    const relative = { request, run, cutAt, isBelow };
    const own = await ports.shares.longWork.take(tenant, () => relativeRows(ports, relative));
    bytes += bytesOf(own);
    if (bytes > MAX_FORKED_BYTES) throw tooManyBytes(request);
    others.push(stored(run, own));
  }
  const begun = runs.map((run): RestingRun => {
    const { state, workflow, checkpoint, place } = run;
    return { state, workflow, checkpoint, record: { tenant, contextId: place.contextId, fork: forkOf(run) } };
  });
  return { ...stored(focus, rows), status, others, begun };
}

const forkOf = ({ place: { source, fromSeq } }: CutRun): RunFork => ({
  sourceRunId: source.runId,
  fromSeq,
  mode: 'branch',
});

/** A branch that shares everything before the failed node. */
export async function retryRun(ports: ForkPorts, request: RetryRun): Promise<RunForked> {
  const fromSeq = await retryPoint(ports, request.tenant, request.runId);
  return forkRun(ports, { ...request, mode: 'branch', fromSeq, isRetry: true });
}

async function sourceOf({ store }: ForkPorts, { tenant, runId: id, fromSeq, mode }: ForkRun): Promise<RunHead> {
  const source = await store.log.head(id);
  if (source === null || source.record.tenant !== tenant) {
    const purged = await store.log.purged(id);
    if (purged?.tenant !== tenant) throw runNotFound(id);
    // Checks the bounds first: they are known even if the events were purged.
    throw fromSeq > purged.seq + 1 ? beyond(id, fromSeq, purged.seq) : sourcePurged({ sourceRunId: id, fromSeq, mode });
  }
  if (source.record.importedAt !== null) throw runImported(id);
  if (isQuarantined(source)) throw quarantined(id);
  const hasEnded = isTerminalStatus(source.record.status);
  const last = mode === 'branch' && hasEnded ? source.seq : source.seq + 1;
  if (fromSeq > last) throw beyond(id, fromSeq, source.seq);
  return source;
}

function beyond(id: RunId, fromSeq: number, lastSeq: number): TerminalError {
  const why = fromSeq === lastSeq + 1 ? 'nothing follows its last event' : `it ends at event ${lastSeq}`;
  return new TerminalError('invalid_from_seq', {
    message: `Run ${id} cannot be forked at ${fromSeq}: ${why}.`,
    hint: `Fork it at an event from 0 to ${lastSeq}.`,
    details: { sourceRunId: id, fromSeq, lastSeq },
  });
}

/** A quarantined run's state may crash the host, so no fork folds it. */
const quarantined = (runId: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} was quarantined, because the host died while it decided the run; it cannot be forked.`,
    hint: 'Start a new run of its workflow.',
    details: { runId, runStatus: 'failed', errorCode: 'run_quarantined' },
  });

/** A replay that shares no event repeats the first event of its source, so that clients can read it immediately. */
async function replayRows({ log }: ForkPorts['store'], request: ForkRun, id: RunId): Promise<OwnRows['rows']> {
  const { runId: sourceRunId, fromSeq } = request;
  if (fromSeq > 0) return [];
  const [first] = await log.read({ runId: sourceRunId, after: -1, limit: 1 });
  if (first === undefined) return [];
  if (isTombstone(first)) throw sourcePurged({ sourceRunId, fromSeq, mode: 'replay' });
  const event = foldEventOf(first);
  const view = newRunView(id);
  foldRun(view, event);
  const face = taskFace(view, event);
  const { at, type, cause, audience, payload } = first;
  return [
    { at, type, cause: cause ?? undefined, audience, payload, task: face === null ? null : JSON.stringify(face) },
  ];
}

/** A replay goes through the states of its source, from the one at the cut. */
const statusOfReplay = (source: RunHead, { fromSeq }: ForkRun): RunForked['status'] =>
  fromSeq > source.seq ? source.record.status : 'running';
