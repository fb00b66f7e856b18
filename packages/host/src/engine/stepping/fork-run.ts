/** Forks runs: shares the rows of a source before a position, and says what a branch changes there. */
import {
  contextId,
  foldEventOf,
  foldRun,
  isTerminalStatus,
  newRunView,
  type RunId,
  runId,
  TerminalError,
  taskFace,
} from '@cairn/protocol';
import type { RunHead, ForkRun as StoredFork } from '../../log/ports/event-log.ts';
import { isTombstone } from '../../log/ports/rows.ts';
import { sourcePurged } from '../../log/ports/run-purged.ts';
import type { ForkRun, RetryRun, RunForked } from '../engine.ts';
import { type Branch, branchRows, type OwnRows } from './branch-rows.ts';
import type { ForkPorts } from './fork-ports.ts';
import { recordFor } from './idempotency-record.ts';
import { runImported } from './imported-run.ts';
import { isQuarantined } from './quarantine.ts';
import { retryPoint } from './retry-point.ts';
import { runNotFound } from './run-loader.ts';

/** Resolves once the fork is durable. It goes on by itself. */
export async function forkRun(ports: ForkPorts, request: ForkRun): Promise<RunForked> {
  const { uniqueId, clock, shares } = ports;
  const { tenant, runId: sourceRunId, mode, fromSeq } = request;
  const source = await sourceOf(ports, request);
  shares.start(tenant);
  const id = runId(uniqueId());
  const context = contextId(uniqueId());
  const { originRunId } = source.record;
  const branch: Branch = { request, source: source.record, runId: id, contextId: context };
  const own = mode === 'branch' ? await branchRows(ports, branch) : await replayRows(ports, branch);
  const status = own.status ?? statusOfReplay(source, request);
  const forked: RunForked = { runId: id, contextId: context, status, sourceRunId, fromSeq, mode };
  const record = recordFor(request.idempotency, clock);
  const fork: StoredFork = {
    runId: id,
    tenant,
    contextId: context,
    originRunId,
    fork: { sourceRunId, fromSeq, mode },
    at: clock.now(),
    rows: own.rows,
    ...(record === undefined ? {} : { idempotency: [record(forked)] }),
  };
  await ports.store.log.fork(fork);
  ports.nudge();
  return forked;
}

/** A branch that shares everything before the failed node. */
export async function retryRun(ports: ForkPorts, request: RetryRun): Promise<RunForked> {
  const fromSeq = await retryPoint(ports, request.tenant, request.runId);
  return forkRun(ports, { ...request, mode: 'branch', fromSeq });
}

async function sourceOf({ store }: ForkPorts, { tenant, runId: id, fromSeq, mode }: ForkRun): Promise<RunHead> {
  const source = await store.log.head(id);
  if (source === null || source.record.tenant !== tenant) {
    const purged = await store.log.purged(id);
    if (purged?.tenant !== tenant) throw runNotFound(id);
    // The bounds come first: they are known although the events are gone.
    throw fromSeq > purged.seq + 1 ? beyond(id, fromSeq, purged.seq) : sourcePurged({ sourceRunId: id, fromSeq, mode });
  }
  if (source.record.importedAt !== null) throw runImported(id);
  if (isQuarantined(source)) throw quarantined(id);
  const hasEnded = isTerminalStatus(source.record.status);
  const last = mode === 'branch' && hasEnded ? source.seq : source.seq + 1;
  if (fromSeq > last) throw beyond(id, fromSeq, source.seq);
  if (mode === 'branch' && source.record.parentRunId !== null) throw childSource(id, source.record.parentRunId);
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

/** Its state may be what killed the host, so that no fork folds it either. */
const quarantined = (runId: RunId): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} was quarantined, because the host died while it decided the run; it cannot be forked.`,
    hint: 'Start a new run of its workflow.',
    details: { runId, runStatus: 'failed', errorCode: 'run_quarantined' },
  });

const childSource = (id: RunId, parentRunId: RunId): TerminalError =>
  new TerminalError('capability_not_provided', {
    message: `Run ${id} is a child of ${parentRunId} and cannot branch alone.`,
    hint: `Branch ${parentRunId}; a branch starts or forks the children it needs.`,
    details: { runId: id, parentRunId },
  });

/** A replay that shares no event begins with the first one of its source, so that it can be read at once. */
async function replayRows({ store }: ForkPorts, { request, runId: id }: Branch): Promise<Partial<OwnRows>> {
  const { runId: sourceRunId, fromSeq } = request;
  if (fromSeq > 0) return {};
  const [first] = await store.log.read({ runId: sourceRunId, after: -1, limit: 1 });
  if (first === undefined) return {};
  if (isTombstone(first)) throw sourcePurged({ sourceRunId, fromSeq, mode: 'replay' });
  const event = foldEventOf(first);
  const view = newRunView(id);
  foldRun(view, event);
  const face = taskFace(view, event);
  const { at, type, audience, payload } = first;
  return { rows: [{ at, type, audience, payload, task: face === null ? null : JSON.stringify(face) }] };
}

/** A replay goes through the states of its source, from the one at the cut. */
const statusOfReplay = (source: RunHead, { fromSeq }: ForkRun): RunForked['status'] =>
  fromSeq > source.seq ? source.record.status : 'running';
