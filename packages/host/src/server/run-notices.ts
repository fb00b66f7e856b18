/** Tells when a run starts and when it ends, for the terminal of a development host. */
import { isTerminalType, type RunId, type TerminalType } from '@cairn/protocol';
import type { Commit, EventLog } from '../log/ports/event-log.ts';
import type { Row } from '../log/ports/rows.ts';
import { runBounds } from '../log/ports/run-bounds.ts';

interface NoticeOfRun {
  readonly runId: RunId;
  readonly workflowId: string;
  readonly parentRunId: RunId | null;
  /** The number of runs above it that this process saw start, or one for a parent that it did not. */
  readonly depth: number;
}

interface RunEnd {
  readonly type: TerminalType;
  readonly durationMs: number | null;
  /** Why it failed or was cancelled; null without a reason. */
  readonly reason: string | null;
}

export type RunNotice = NoticeOfRun & ({ readonly type: 'run.started' } | RunEnd);

/** Follows the log until the returned function is called. */
export function followRuns(log: Pick<EventLog, 'follow' | 'head'>, tell: (notice: RunNotice) => void): () => void {
  const active = new Map<RunId, NoticeOfRun>();
  const noticeOf = (runId: RunId, workflowId = '', parentRunId: RunId | null = null): NoticeOfRun => {
    const depth = parentRunId === null ? 0 : (active.get(parentRunId)?.depth ?? 0) + 1;
    return { runId, workflowId, parentRunId, depth };
  };
  /** A run that an earlier process started is known to the store only. */
  const stored = async (runId: RunId): Promise<NoticeOfRun> => {
    const head = await log.head(runId).catch(() => null);
    return noticeOf(runId, head?.record.workflowId, head?.record.parentRunId);
  };
  const seen = ({ runId, rows }: Commit): void => {
    const first = rows[0];
    if (first?.seq === 0) {
      const { workflowId, parentRunId } = fieldsOf(first);
      const run = noticeOf(runId, workflowId, parentRunId);
      active.set(runId, run);
      tell({ type: 'run.started', ...run });
    }
    const last = rows.at(-1);
    const type = last?.type ?? '';
    if (last === undefined || !isTerminalType(type)) return;
    const known = active.get(runId);
    active.delete(runId);
    const ended = (run: NoticeOfRun): void => tell({ ...run, ...endOf(type, last) });
    if (known !== undefined) ended(known);
    else void stored(runId).then(ended);
  };
  return log.follow(seen, { types: () => runBounds });
}

function endOf(type: TerminalType, row: Row): RunEnd {
  const { durationMs = null, error, reason = null } = fieldsOf(row);
  return { type, durationMs, reason: error === undefined ? reason : `${error.code}: ${error.message}` };
}

interface Fields {
  readonly workflowId?: string;
  readonly parentRunId?: RunId;
  readonly durationMs?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly reason?: string;
}

/** The host wrote the row itself, so its payload has the form of its type. */
const fieldsOf = ({ payload }: Row): Fields => JSON.parse(payload);
