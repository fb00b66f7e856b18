/** Finds where to retry a failed run: before the visit of the node that failed. */
import { type RunId, TerminalError } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { runImported } from '../creation/imported-run.ts';
import { missingRun, type RunLoader } from '../loading/run-loader.ts';
import type { ForkPorts } from './fork-ports.ts';

/** seq of the first `node.started` of the failed visit. Throws if the run did not fail, or failed without a node. */
export async function retryPoint({ store: { log }, loader }: ForkPorts, tenant: string, runId: RunId): Promise<number> {
  const head = await log.head(runId);
  if (head === null || head.record.tenant !== tenant) throw await missingRun(log, tenant, runId);
  if (head.record.importedAt !== null) throw runImported(runId);
  const { status } = head.record;
  if (status !== 'failed') throw notFailed(runId, status);
  const last = await rowAt(log, runId, head.seq);
  const failed = typeof last?.cause === 'number' ? await rowAt(log, runId, last.cause) : undefined;
  if (failed?.type !== 'node.failed' || failed.nodeId === null) throw noFailedNode(runId, head.record.errorCode);
  const started = await lastVisit(loader, { ...failed, nodeId: failed.nodeId });
  if (started === null) throw noFailedNode(runId, head.record.errorCode);
  return started;
}

async function rowAt(log: EventLog, runId: RunId, seq: number): Promise<Row | undefined> {
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  return row?.seq === seq ? row : undefined;
}

/** Retries of a node are attempts of one visit. The state before each of them began names the attempt before it. */
async function lastVisit(loader: RunLoader, failed: Row & { readonly nodeId: string }): Promise<number | null> {
  for (let before = failed.seq; ; ) {
    const { active } = (await loader.loadAt(failed.runId, before - 1)).state;
    const attempt = Object.hasOwn(active, failed.nodeId) ? active[failed.nodeId] : undefined;
    if (attempt === undefined || attempt.startedSeq >= before) return null;
    if (attempt.attempt === 0) return attempt.startedSeq;
    before = attempt.startedSeq;
  }
}

const notFailed = (runId: RunId, runStatus: string): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} is ${runStatus}; only a failed run can be retried.`,
    hint: 'Fork it at an event instead.',
    details: { runId, runStatus },
  });

const noFailedNode = (runId: RunId, errorCode: string | null): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} failed with ${errorCode ?? 'an error'}, but no node of it failed, so there is none to retry.`,
    hint: 'Fork it at an event, with the options that it needs to go on.',
    details: { runId, runStatus: 'failed', ...(errorCode === null ? {} : { errorCode }) },
  });
