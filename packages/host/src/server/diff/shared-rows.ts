/** Finds the history that two logs share: forks share the rows before their cut, and have equal chain hashes there. */
import type { RunId } from '@cairn/protocol';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';

/**
 * The last sequence up to which both logs are equal; -1 if they differ from the start. The chain hash of a row covers all
 * rows before it, so this is a bisection that reads about 17 rows of each run of 100,000.
 */
export async function lastSharedSeq(log: EventLog, a: RunHead, b: RunHead): Promise<number> {
  // The origin seeds the chain.
  if (a.record.originRunId !== b.record.originRunId) return -1;
  let [low, high] = [-1, Math.min(a.seq, b.seq)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [one, other] = await Promise.all([hashAt(log, a.record.runId, middle), hashAt(log, b.record.runId, middle)]);
    if (one !== null && one === other) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function hashAt(log: EventLog, runId: RunId, seq: number): Promise<string | null> {
  const [row] = await log.read({ runId, after: seq - 1, limit: 1 });
  return row?.seq === seq ? row.hash : null;
}
