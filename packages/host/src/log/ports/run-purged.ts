/** The errors for a run that was purged, and for a fork of it. */
import { isoTime, TerminalError } from '@cairn/protocol';
import type { PurgedRun, RunFork } from './event-log.ts';

/** Told to the run's own tenant alone: for anybody else the run is unknown. */
export const runPurged = ({ runId, purgedAt }: Pick<PurgedRun, 'runId' | 'purgedAt'>): TerminalError =>
  new TerminalError('run_purged', {
    message: `Run ${runId} was purged at ${isoTime(purgedAt)}; its events are gone.`,
    hint: 'A backup or a bundle from before may hold it. "cairn verify" still walks its hash chain.',
    details: { runId, purgedAt: isoTime(purgedAt) },
  });

/** The rows that a fork would share are gone. */
export const sourcePurged = ({ sourceRunId, fromSeq }: RunFork): TerminalError =>
  new TerminalError('replay_memory_snapshot_unavailable', {
    message: `Run ${sourceRunId} was purged, so it cannot be forked at event ${fromSeq}.`,
    hint: 'Import it from a bundle on another host, or start a new run.',
    details: { sourceRunId, fromSeq, reason: 'retention_expired' },
  });
