/** Finds where to retry a failed run: before the visit of the node that failed. */
import { foldEventOf, type RunId, TerminalError } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Row } from '../../log/ports/rows.ts';
import { runImported } from './imported-run.ts';
import { missingRun } from './run-loader.ts';

const PAGE = 1_000;

/** seq of the first `node.started` of the failed visit. Throws if the run did not fail, or failed without a node. */
export async function retryPoint(log: EventLog, tenant: string, runId: RunId): Promise<number> {
  const head = await log.head(runId);
  if (head === null || head.record.tenant !== tenant) throw await missingRun(log, tenant, runId);
  if (head.record.importedAt !== null) throw runImported(runId);
  const { status } = head.record;
  if (status !== 'failed') throw notFailed(runId, status);
  const last = await rowAt(log, runId, head.seq);
  const failed = typeof last?.cause === 'number' ? await rowAt(log, runId, last.cause) : undefined;
  if (failed?.type !== 'node.failed' || failed.nodeId === null) throw noFailedNode(runId, head.record.errorCode);
  const started = await lastVisit(log, runId, failed);
  if (started === null) throw noFailedNode(runId, head.record.errorCode);
  return started;
}

async function rowAt(log: EventLog, runId: RunId, seq: number): Promise<Row | undefined> {
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  return row?.seq === seq ? row : undefined;
}

/** Retries of the node are attempts of the same visit. */
async function lastVisit(log: EventLog, runId: RunId, failed: Row): Promise<number | null> {
  let found: number | null = null;
  for (let after = -1; ; ) {
    const rows = await log.read({ runId, after, limit: PAGE });
    for (const row of rows) {
      if (row.seq >= failed.seq) return found;
      if (row.type !== 'node.started' || row.nodeId !== failed.nodeId) continue;
      const event = foldEventOf(row);
      if (event.type === 'node.started' && (event.payload.attempt ?? 0) === 0) found = row.seq;
    }
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.seq;
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
