/** Limits forks of forks: to find the place of a cut, or the run that a replay repeats, the host walks all of them. */
import { TerminalError } from '@cairn/protocol';
import { type EventLog, MAX_SHARED_RUNS, type RunHead } from '../../log/ports/event-log.ts';

/** Throws if a fork of this run would be too many forks away from the original run. */
export async function refuseDeepFork(log: EventLog, source: RunHead): Promise<void> {
  let depth = 0;
  for (let head: RunHead | null = source; head !== null; depth += 1) {
    if (depth >= MAX_SHARED_RUNS - 1) throw tooDeep(source);
    const { fork }: RunHead['record'] = head.record;
    head = fork === null ? null : await log.head(fork.sourceRunId);
  }
}

const tooDeep = ({ record: { runId } }: RunHead): TerminalError =>
  new TerminalError('conflict', {
    message: `Run ${runId} is a fork of forks, ${MAX_SHARED_RUNS} runs deep.`,
    hint: 'Fork one of the runs that it came from, or start a new run.',
    details: { runId, maxDepth: MAX_SHARED_RUNS },
  });
