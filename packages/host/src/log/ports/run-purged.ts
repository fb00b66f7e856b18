/** The errors for a run that was purged, and for its forks: those that exist, and those that are asked for. */
import { isoTime, type RunId, TerminalError } from '@cairn/protocol';
import type { PurgedRun, RunFork } from './event-log.ts';

/** For the run's own tenant alone: for any other caller the run is unknown. */
export const runPurged = ({ runId, purgedAt }: Pick<PurgedRun, 'runId' | 'purgedAt'>): TerminalError =>
  new TerminalError('run_purged', {
    message: `Run ${runId} was purged at ${isoTime(purgedAt)}; its events are gone.`,
    hint: 'A backup or a bundle from before may hold it. "cairn verify" still walks its hash chain.',
    details: { runId, purgedAt: isoTime(purgedAt) },
  });

/** A fork shares rows with a run that was purged by force. */
export const sharedRowsPurged = (runId: RunId): TerminalError =>
  new TerminalError('run_purged', {
    message: `Run ${runId} is a fork, and the run that it shares its first events with was purged; they are gone.`,
    hint: 'A backup or a bundle from before may hold them. "cairn verify" still walks its hash chain.',
    details: { runId },
  });

/** The rows that a fork would share are gone. */
export const sourcePurged = ({ sourceRunId, fromSeq }: RunFork): TerminalError =>
  new TerminalError('replay_memory_snapshot_unavailable', {
    message: `Run ${sourceRunId} was purged, so it cannot be forked at event ${fromSeq}.`,
    hint: 'Import it from a bundle on another host, or start a new run.',
    details: { sourceRunId, fromSeq, reason: 'retention_expired' },
  });
