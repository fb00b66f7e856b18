/** Tells the operator of runs that the engine failed by itself: a defect in full, a value beyond a limit in one line. */
import { isCairnError, type RunId } from '@cairn/protocol';
import { TokenBuckets } from '../../token-buckets.ts';
import type { Clock, Report } from '../ports.ts';

/** Of one tenant. Its data can stop as many runs as it starts. */
const LINES_PER_MINUTE = 60;

/** What is called with the error of a run. */
export type StoppedRuns = (tenant: string, runId: RunId) => (error: unknown) => void;

export function stoppedRuns(report: Report, clock: Pick<Clock, 'now'>): StoppedRuns {
  const allowance = new TokenBuckets({
    perSecond: LINES_PER_MINUTE / 60,
    burst: LINES_PER_MINUTE,
    now: () => clock.now(),
  });
  let dropped = 0;
  return (tenant, runId) => (error) => {
    if (allowance.take(tenant) > 0) {
      dropped += 1;
      return;
    }
    const facts = { runId, ...(dropped > 0 && { dropped }) };
    dropped = 0;
    const isLimit = isCairnError(error) && error.code !== 'internal_error';
    if (isLimit) report({ level: 'warn', event: 'run.beyond_limit', facts: { ...facts, tenant, code: error.code } });
    else report({ level: 'error', event: 'run.stopped', facts, error });
  };
}
