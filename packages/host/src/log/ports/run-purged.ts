/** The error for a run that was purged. */
import { isoTime, TerminalError } from '@cairn/protocol';
import type { PurgedRun } from './event-log.ts';

/** Told to the run's own tenant alone: for anybody else the run is unknown. */
export const runPurged = ({ runId, purgedAt }: Pick<PurgedRun, 'runId' | 'purgedAt'>): TerminalError =>
  new TerminalError('run_purged', {
    message: `Run ${runId} was purged at ${isoTime(purgedAt)}; its events are gone.`,
    hint: 'A backup or a bundle from before may hold it. "cairn verify" still walks its hash chain.',
    details: { runId, purgedAt: isoTime(purgedAt) },
  });
