/** Verifies runs of a data folder: the events, and everything that the folder derives from them. */
import { isCairnError, type RunId } from '@cairn/protocol';
import type { KeptRun, ReadOnlyLog } from '../../log/sqlite/folder/read-only.ts';
import type { Verdict } from './verdict.ts';

/** Returns the last hash that follows from the events. */
export function verifyKept(log: ReadOnlyLog, run: KeptRun, verdict: Verdict): string {
  const { runId } = run;
  const report = (seq: number | null, message: string) => verdict.problem({ runId, seq, message });
  const counted = function* () {
    for (const row of log.rows(run)) {
      verdict.row();
      yield row;
    }
  };
  const { retired, hash } = log.checks.run(run, counted(), report);
  verdict.runs += 1;
  verdict.retired += retired;
  return hash;
}

/** Every run, and then what belongs to no single run. */
export function verifyFolder(log: ReadOnlyLog, verdict: Verdict): void {
  try {
    verifyTables(log, verdict);
  } catch (error) {
    if (!isCairnError(error, 'store_corrupt')) throw error;
    verdict.problem({ runId: null, seq: null, message: error.message });
  }
}

function verifyTables(log: ReadOnlyLog, verdict: Verdict): void {
  for (const runId of everyRun(log)) {
    const run = log.run(runId);
    if (run === null) verdict.problem({ runId, seq: null, message: 'the run cannot be found by its id' });
    else verifyKept(log, run, verdict);
  }
  log.checks.folder(
    (seq, message) => verdict.problem({ runId: null, seq, message }),
    (_, message) => verdict.doubt(message),
  );
}

/** Purged runs still have their hashes. */
function* everyRun(log: ReadOnlyLog): Generator<RunId> {
  for (const { runId } of log.runs()) yield runId;
  yield* log.purgedRuns();
}
